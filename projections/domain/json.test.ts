import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseHandmadeJson, parseJson } from "./json.ts";

describe("JSON", () => {
  it("is parsed to the same value as ever, strictly and as written by hand", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        const value = JSON.parse(text);
        // A double writes whole numbers beyond 2^53 with digits that need not be those of the source.
        if (/\d{16}/.test(text)) return;
        expect(parseJson(text)).toEqual(value);
        expect(parseHandmadeJson(text)).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", "9007199254740993"],
    ["-9007199254740993", "-9007199254740993"],
    [
      "115792089237316195423570985008687907853269984665640564039457584007913129639935",
      "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    ],
    ["0.1", 0.1],
    ["1.50", 1.5],
    ["0.12345678901234567890", "0.12345678901234567890"],
    ["1e21", 1e21],
    ["1.5E-7", 1.5e-7],
    ["1e-400", "1e-400"],
    ["0.30000000000000004", 0.30000000000000004],
    ["-0", -0],
    ["0.00000000000000000000", 0],
  ])("has numbers exactly: %s", (text, value) => {
    expect(parseJson(`[{"a":${text}}]`)).toEqual([{ a: value }]);
  });

  it("has digits in strings and names as they are", () => {
    const text =
      '{"12345678901234567890":"1 12345678901234567890, \\"9007199254740993","b":"9007199254740993"}';
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it("of those who compute with decimals rounds them", () => {
    expect(parseJson('{"a":0.12345678901234567890,"b":12345678901234567890}', "integers")).toEqual({
      a: 0.12345678901234568,
      b: "12345678901234567890",
    });
  });
});

describe("JSON written by hand", () => {
  it.each([
    ['{"a":"one\ntwo\r\n\tthree\0"}', { a: "one\ntwo\r\n\tthree\0" }],
    ['{"a":"It\\\'s \\`so\\`"}', { a: "It's `so`" }],
    ['{"a":"¯\\_(ツ)_/¯ C:\\path \\u12"}', { a: "¯\\_(ツ)_/¯ C:\\path \\u12" }],
    ['{"a":"tab\\t","b":"back\\\\slash\n"}', { a: "tab\t", b: "back\\slash\n" }],
    ['{"a":[1,2,],"b":{"c":1,},}', { a: [1, 2], b: { c: 1 } }],
    ['{,"a":[,{"b":1},,{"b":2}]}', { a: [{ b: 1 }, { b: 2 }] }],
    ['{"a":[{"b":1}{"b":2}\n{"b":3}]}', { a: [{ b: 1 }, { b: 2 }, { b: 3 }] }],
    ['{"a":,"b":}', { a: null, b: null }],
    ['{"a":NaN,"b":-Infinity,"c":undefined}', { a: null, b: null, c: null }],
    [
      '{"a":007,"b":.5,"c":+1,"d":9007199254740993,}',
      { a: "007", b: ".5", c: "+1", d: "9007199254740993" },
    ],
    ['{name:"x",attributes : []}', { name: "x", attributes: [] }],
    ['\ufeff\n;{"a":1};\n\0', { a: 1 }],
    [')]}\',\n{"a":1}', { a: 1 }],
    ['({"a":1});', { a: 1 }],
    ['{"a":1}}', { a: 1 }],
    // Case 14: what nobody sees, between any two tokens.
    ...["\0", "\u0007", "\u200b", "\ufeff", "\u00a0", "\u2060", "\u00ad", "\u200b\0\n"].map(
      (mark): [string, unknown] => [
        ["", "{", '"a"', ":", "1", ",", "b", ":", "[", "true", ",", '"c"', "]", "}", ""].join(mark),
        { a: 1, b: [true, "c"] },
      ],
    ),
    [`${"\0".repeat(40)}{"a":"\u200bx\0"}`, { a: "\u200bx\0" }],
  ])("is read as it is meant: %j", (text, value) => {
    expect(parseHandmadeJson(text)).toEqual(value);
  });

  it.each([
    '{"a":"say "hi" now"}',
    '{"name":"The "Best" one","b":1}',
    "{'a': 1}",
    '{"a":1',
    '{"a":"no end',
    '{"a":1}{"b":2}',
    '{"a":1} more',
    'callback({"a":1})',
    '{"a" 1}',
    '{"a":ipfs://x}',
    '{"a":1]',
    '{"a":1 2}',
    '{"a":1\u200b2}',
    '{"a":tr\0ue}',
    "",
    "null and void",
  ])("is not guessed at: %j", (text) => {
    expect(parseHandmadeJson(text)).toBeUndefined();
  });

  it("takes time in proportion to its length", () => {
    const before = performance.now();
    for (const text of ['"\\', '\\"', "[,", '{"a":', "/ipfs", "1e1", "}{", "\n", ",".repeat(9)]) {
      parseHandmadeJson(`{"a":${text.repeat(Math.floor(300_000 / text.length))}`);
    }
    expect(performance.now() - before).toBeLessThan(20_000);
  });
});
