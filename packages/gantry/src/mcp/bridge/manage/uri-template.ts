/**
 * A matcher for the URIs that a template (RFC 6570) may expand to. Simple, reserved, fragment, path, label and query expressions are
 * understood, approximately: what an expression may expand to is not decoded, and prefixes and explode are ignored. Everything else
 * stands for itself, an opening brace that is never closed too.
 */
export const matchesTemplate = (template: string, uri: string): boolean => toPattern(template).test(uri);

const toPattern = (template: string): RegExp => {
  let pattern = '';
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf('{', at);
    const close = open === -1 ? -1 : template.indexOf('}', open);
    if (close === -1) break;
    pattern += RegExp.escape(template.slice(at, open)) + expressionPattern(template.slice(open + 1, close));
    at = close + 1;
  }
  return new RegExp(`^${pattern}${RegExp.escape(template.slice(at))}$`, 's');
};

const expressionPattern = (expression: string): string => {
  const operator = expression[0] ?? '';
  switch (operator) {
    case '+':
      return '.+';
    case '#':
      return '(?:#.*)?';
    case '?':
      return String.raw`(?:\?[^#]*)?`;
    case '&':
      return '(?:&[^#]*)?';
    case '/':
      return '(?:/[^?#]*)?';
    case '.':
      return String.raw`(?:\.[^/?#]*)?`;
    case ';':
      return '(?:;[^/?#]*)?';
    default:
      return '[^/?#]+';
  }
};
