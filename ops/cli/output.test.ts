import { expect, it } from "vitest";
import { tableLines } from "./output.ts";

const rows = [
  ["name", "what it holds", "n"],
  ["sales", "a text that is longer than all others of its column", "1"],
  ["x", "short", "20000"],
];

it("fits a table to the width of the terminal by cutting its widest cells", () => {
  for (const columns of [40, 30, 24]) {
    const lines = tableLines(rows, { isTTY: true, columns });
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    expect(lines[1]).toMatch(/^sales +a text.*… +1$/);
    expect(lines[2]).toMatch(/20000$/);
  }
});

it("cuts nothing where the table fits, or where the output is no terminal", () => {
  const whole = tableLines(rows, { isTTY: true, columns: 200 });
  expect(whole[1]).toBe("sales  a text that is longer than all others of its column  1");
  expect(tableLines(rows, { columns: 10 })).toEqual(whole);
});
