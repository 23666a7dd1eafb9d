const extensions: Readonly<Record<string, string>> = {
  'application/gzip': '.gz',
  'application/json': '.json',
  'application/msword': '.doc',
  'application/pdf': '.pdf',
  'application/vnd.ms-excel': '.xls',
  'application/vnd.ms-powerpoint': '.ppt',
  'application/vnd.oasis.opendocument.spreadsheet': '.ods',
  'application/vnd.oasis.opendocument.text': '.odt',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': '.pptx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': '.xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': '.docx',
  'application/xml': '.xml',
  'application/zip': '.zip',
  'audio/flac': '.flac',
  'audio/mp4': '.m4a',
  'audio/mpeg': '.mp3',
  'audio/ogg': '.ogg',
  'audio/wav': '.wav',
  'audio/webm': '.weba',
  'image/avif': '.avif',
  'image/bmp': '.bmp',
  'image/gif': '.gif',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/svg+xml': '.svg',
  'image/tiff': '.tiff',
  'image/webp': '.webp',
  'message/rfc822': '.eml',
  'text/calendar': '.ics',
  'text/css': '.css',
  'text/csv': '.csv',
  'text/html': '.html',
  'text/javascript': '.js',
  'text/markdown': '.md',
  'text/plain': '.txt',
  'text/vcard': '.vcf',
  'video/mp4': '.mp4',
  'video/quicktime': '.mov',
  'video/webm': '.webm',
};

const types: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(extensions).map(([mime, extension]) => [extension, mime])),
  '.jpeg': 'image/jpeg',
  '.htm': 'text/html',
  '.tif': 'image/tiff',
};

/** What bytes are when nothing says what they are. */
export const unknownMime = 'application/octet-stream';

/** The type without parameters, in lower case. */
export const plainMime = (mime: string): string => mime.toLowerCase().split(';', 1)[0]?.trim() ?? '';

/** The extension of a type, with its dot; `.bin` for one that is not known. */
export const extensionOf = (mime: string): string => extensions[plainMime(mime)] ?? '.bin';

/** The type that a file name's extension says; undefined when it says none. */
export const mimeOfName = (name: string): string | undefined =>
  types[/\.[A-Za-z0-9]+$/.exec(name)?.[0].toLowerCase() ?? ''];

/** True for types that a model cannot read as text; undefined when the type does not tell. SVG is text. */
export const isBinaryMime = (mime: string): boolean | undefined => {
  const plain = plainMime(mime);
  if (plain === '' || plain === unknownMime) return undefined;
  if (plain === 'image/svg+xml') return false;
  return /^(?:image|audio|video)\/|^application\/(?:pdf|(?:x-)?zip(?:-compressed)?|(?:x-)?gzip|msword|vnd\.(?:ms-|openxmlformats-officedocument\.|oasis\.opendocument\.))/.test(
    plain,
  );
};
