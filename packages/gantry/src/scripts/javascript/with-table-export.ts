const exportSection = 7;
const tableKind = 1;

/**
 * WebAssembly code that exports its table of functions under a name too; its first and only one. Without it the host cannot give the
 * code a function to call back that it was not made for.
 */
export const withTableExport = (code: Uint8Array, name: string): Uint8Array => {
  const added = [name.length, ...Buffer.from(name, 'latin1'), tableKind, 0];
  // After the magic number and the version: sections, each with its id, its length and its content.
  for (let at = 8; at < code.length;) {
    const id = code[at];
    const length = readNumber(code, at + 1);
    const end = length.end + length.value;
    if (id === exportSection) {
      const count = readNumber(code, length.end);
      const content = [...writeNumber(count.value + 1), ...code.subarray(count.end, end), ...added];
      return Buffer.concat([
        code.subarray(0, at),
        Uint8Array.of(exportSection, ...writeNumber(content.length), ...content),
        code.subarray(end),
      ]);
    }
    at = end;
  }
  return code;
};

// Numbers are written in LEB128: seven bits a byte, the lowest first, and the eighth bit says that more follow.
const readNumber = (code: Uint8Array, from: number): { readonly value: number; readonly end: number } => {
  let value = 0;
  for (let at = from, shift = 0; ; at += 1, shift += 7) {
    const byte = code[at] ?? 0;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { value, end: at + 1 };
  }
};

const writeNumber = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...writeNumber(Math.floor(value / 0x80))];
