/** A format of pictures that models and surfaces show. */
export interface ImageFormat {
  readonly mime: string;
  readonly extension: string;
}

/** What the first bytes say the picture is, whatever its server called it; undefined for anything else. */
export const imageFormatOf = (bytes: Uint8Array): ImageFormat | undefined => {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n')) return { mime: 'image/png', extension: 'png' };
  if (head.startsWith('\xff\xd8\xff')) return { mime: 'image/jpeg', extension: 'jpg' };
  if (/^GIF8[79]a/.test(head)) return { mime: 'image/gif', extension: 'gif' };
  if (/^RIFF[^]{4}WEBP/.test(head)) return { mime: 'image/webp', extension: 'webp' };
  return undefined;
};
