/** Which names and origins a listener answers to. */
export interface AddressPolicy {
  /** The address it is bound to. */
  readonly host: string;
  /** Further names clients reach it by, without port. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Where clients reach it behind a proxy; its name and its origin are allowed. */
  readonly publicUrl?: string | undefined;
  /** Further origins whose pages may call it, as a browser writes them (`https://app.example`). */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** Judges the `Host` and `Origin` headers of a request. */
export interface AddressCheck {
  /** Why the request must not be served, or undefined. */
  refusal(host: string | undefined, origin: string | undefined): string | undefined;
}

/**
 * Makes the check that keeps web pages from reaching a local listener through a name of theirs (DNS rebinding): `Host`
 * names the loopback interface, the bound host or an allowed one; `Origin` is absent, the same host, or allowed.
 */
export const createAddressCheck = (policy: AddressPolicy): AddressCheck => {
  const own = isWildcard(policy.host) ? [] : [policy.host];
  const known = policy.publicUrl === undefined ? undefined : new URL(policy.publicUrl);
  const names = new Set(
    [...own, ...(policy.allowedHosts ?? []), ...(known ? [known.hostname] : [])].map((name) =>
      inUrl(name).toLowerCase(),
    ),
  );
  const origins = new Set([...(policy.allowedOrigins ?? []), ...(known ? [known.origin] : [])]);

  const judge = (host: string | undefined, origin: string | undefined): string | undefined => {
    const url = host === undefined ? null : URL.parse(`http://${host}`);
    if (!url || !(isLoopback(url.hostname) || names.has(url.hostname)))
      return `This server is not to be reached as "${(host ?? '').slice(0, 100)}"; allow the name in serve.allowedHosts.`;
    if (origin === undefined || origins.has(origin)) return undefined;
    const from = URL.parse(origin);
    if (from && /^https?:$/.test(from.protocol) && from.host === url.host) return undefined;
    return `Pages of "${origin.slice(0, 100)}" may not call this server; allow the origin in serve.allowedOrigins.`;
  };
  // Clients name the gateway in one or two ways, and to take an address apart costs as much as a tenth of its routes.
  const allowed = new Set<string>();
  return {
    refusal: (host, origin) => {
      // No header has a line break; one that is not there is not one that says so.
      const asked = origin === undefined ? `${host}` : `${host}\n${origin}`;
      if (allowed.has(asked)) return undefined;
      const why = judge(host, origin);
      if (why === undefined && allowed.size < mostRemembered) allowed.add(asked);
      return why;
    },
  };
};

const mostRemembered = 100;

/** True for the names and addresses of the loopback interface, with or without the brackets of a URL. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

/** A host as it stands in a URL: IPv6 addresses in brackets. */
export const inUrl = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === '[::]';
