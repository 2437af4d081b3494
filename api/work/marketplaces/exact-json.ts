const exactFields = "counter|salt|identifierOrCriteria|startAmount|endAmount|value|amount";
const longInteger = new RegExp(
  `(?<!\\\\)("(?:${exactFields})"\\s*:\\s*)(\\d{16,80})(?=\\s*[,}\\]])`,
  "g",
);

/**
 * JSON whose long integers survive: partners write a maker's counter, which has up to 256 bits, as a bare number. Such
 * a member becomes a string of its digits. Throws as `JSON.parse` does.
 */
export function parseExactJson(text: string): unknown {
  // Quotes inside of strings are escaped, so an unescaped `"counter":` is a member.
  return JSON.parse(text.replace(longInteger, '$1"$2"'));
}
