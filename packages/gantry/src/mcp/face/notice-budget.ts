// A client that does not read would have all of it kept here.
const mostChars = 8 * 1024 * 1024;

/** Says of each notice of one request whether it may still be told: beyond 8 MB in all the rest is left out. */
export const createNoticeBudget = (): ((params: object) => boolean) => {
  let chars = 0;
  return (params) => {
    if (chars <= mostChars) chars += JSON.stringify(params).length;
    return chars <= mostChars;
  };
};
