/** The bytes of base64 text, line breaks allowed; undefined when it is not that. */
export const fromBase64 = (text: string): Uint8Array | undefined => {
  const plain = /\s/.test(text) ? text.replaceAll(/\s+/g, '') : text;
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(plain)) return undefined;
  return Buffer.from(plain, 'base64');
};
