const set = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** Elements that begin on a line of their own. */
export const blockElements: ReadonlySet<string> = set(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul listing xmp plaintext',
);

export const headingElements: ReadonlySet<string> = set('h1 h2 h3 h4 h5 h6');
export const codeElements: ReadonlySet<string> = set('code kbd samp tt var');
export const preElements: ReadonlySet<string> = set('pre listing xmp plaintext');
