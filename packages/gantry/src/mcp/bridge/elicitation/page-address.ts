/**
 * Whether a question that wants a person to open a page (`mode: "url"`) names one that may be shown to a person: http or https, without a
 * user or password in it, which could pass for the host.
 */
export const hasPageAddress = (params: object): boolean => {
  const text: unknown = 'url' in params ? params.url : undefined;
  const url = typeof text === 'string' ? URL.parse(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
};
