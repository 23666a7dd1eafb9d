/** The file name that a `Content-Disposition` header gives (RFC 6266): `filename*` before `filename`; undefined when there is none. */
export const fileNameOf = (header: string | null | undefined): string | undefined => {
  if (!header) return undefined;
  const extended = /;\s*filename\*\s*=\s*([\w-]*)'[^']*'([^;\s]+)/i.exec(header);
  const decoded = extended && decode(extended[1] ?? '', extended[2] ?? '');
  if (decoded) return decoded;
  const plain = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header);
  const name = plain?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? plain?.[2];
  return name === undefined || name.trim() === '' ? undefined : fromUtf8(name);
};

const decode = (charset: string, value: string): string | undefined => {
  if (!/^(?:[^%]|%[0-9a-f]{2})*$/i.test(value)) return undefined;
  const bytes = Buffer.from(
    value.replaceAll(/%([0-9a-f]{2})/gi, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  return charset.toLowerCase() === 'iso-8859-1' ? bytes.toString('latin1') : bytes.toString('utf8');
};

// Header values arrive as Latin-1, but servers write UTF-8 into them.
const fromUtf8 = (name: string): string => {
  if (!/[\u0080-\u00ff]/.test(name) || /[\u0100-\uffff]/.test(name)) return name;
  const utf8 = Buffer.from(name, 'latin1').toString('utf8');
  return utf8.includes('\ufffd') ? name : utf8;
};
