/** All scopes of some texts, each once, as one text (RFC 6749 section 3.3); undefined when there are none. */
export const unionOfScopes = (...texts: readonly (string | undefined)[]): string | undefined => {
  const scopes = new Set(texts.flatMap((text) => text?.split(' ') ?? []).filter((scope) => scope !== ''));
  return scopes.size === 0 ? undefined : [...scopes].join(' ');
};

/**
 * Which scope a server wants that says a token's is not enough (RFC 6750 section 3.1), or '' where it does not say which; undefined for any
 * other answer.
 */
export const insufficientScopeOf = ({ status, headers }: Response): string | undefined => {
  if (status !== 403) return undefined;
  const challenge = headers.get('www-authenticate') ?? '';
  if (!/\berror="?insufficient_scope\b/i.test(challenge)) return undefined;
  return /\bscope="([^"\\]*)"/i.exec(challenge)?.[1] ?? '';
};
