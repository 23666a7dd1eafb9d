/**
 * True when a key of this name holds a credential (`Authorization`, `api_key`, `clientSecret`, `SESSION_COOKIE` …). Names that only
 * speak about one (`max_tokens`, `token_endpoint`, `nextPageToken`) are not.
 */
export const isCredentialName = (name: string): boolean => {
  if (name.length > 100) return false;
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  if (words.some((word) => describing.has(word))) return false;
  return words.some((word, index) => secretWords.has(word) || (word === 'key' && keyKinds.has(words[index - 1] ?? '')));
};

const secretWords: ReadonlySet<string> = new Set(
  (
    'authorization password passwords passwd pwd passphrase secret secrets credential credentials cookie cookies ' +
    'token jwt apikey accesskey privatekey secretkey authtoken accesstoken refreshtoken clientsecret auth'
  ).split(' '),
);
const keyKinds: ReadonlySet<string> = new Set('api access private secret encryption signing account'.split(' '));
const describing: ReadonlySet<string> = new Set(
  (
    'count counts limit max min type types endpoint url uri method methods expires expiry lifetime ttl length page next previous cursor ' +
    'progress usage budget cancel field'
  ).split(' '),
);
