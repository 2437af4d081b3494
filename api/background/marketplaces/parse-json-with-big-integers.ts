const integerFields = "counter|salt|identifierOrCriteria|startAmount|endAmount|value|amount";
const longInteger = new RegExp(
  `(?<!\\\\)("(?:${integerFields})"\\s*:\\s*)(\\d{16,80})(?=\\s*[,}\\]])`,
  "g",
);

/**
 * `JSON.parse` that keeps long integers exact: partners write a maker's counter, of up to 256 bits, as a bare number.
 * Such a member becomes a string of its digits.
 */
export function parseJsonWithBigIntegers(text: string): unknown {
  // Quotes inside strings are escaped, so an unescaped `"counter":` is a member.
  return JSON.parse(text.replace(longInteger, '$1"$2"'));
}
