import { describe, expect, it } from 'vitest';
import { captureOutput } from './captured-output.ts';

describe('captureOutput', () => {
  it('gives a short stream back unchanged, however its characters were cut between chunks', () => {
    const text = 'ü日😀'.repeat(100);
    const output = captureOutput(4096);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 7) output.add(bytes.subarray(at, at + 7));
    expect(output.toText()).toBe(text);
    expect(output.totalBytes).toBe(bytes.length);
  });

  it('keeps the beginning and the end of a long one and says how much is missing', () => {
    const output = captureOutput(40);
    for (let line = 0; line < 1000; line += 1) output.add(Buffer.from(`line ${line}\n`));
    output.add(Buffer.from('LAST'));
    const text = output.toText();
    expect(text).toMatch(/^line 0\nline 1\n/);
    expect(text).toMatch(/LAST$/);
    const left = Number(/(\d+) of (\d+) bytes left out/.exec(text)?.[1]);
    expect(left).toBe(output.totalBytes - 40);
  });

  it.each([1, 2, 3, 5, 64, 1000])('cuts at character borders (chunks of %d bytes)', (chunkBytes) => {
    const bytes = Buffer.from('😀ü日'.repeat(500));
    for (let kept = 20; kept < 32; kept += 1) {
      const output = captureOutput(kept);
      for (let at = 0; at < bytes.length; at += chunkBytes) output.add(bytes.subarray(at, at + chunkBytes));
      expect(output.toText()).not.toContain('\uFFFD');
    }
  });

  it('keeps the end right when it comes in pieces that wrap around', () => {
    const output = captureOutput(16);
    for (const character of 'abcdefghijklmnopqrstuvwxyz') output.add(Buffer.from(character));
    expect(output.toText()).toBe('abcdefghijkl\n[… 10 of 26 bytes left out here …]\nwxyz');
  });
});
