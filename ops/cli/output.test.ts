import { expect, it, vi } from "vitest";
import { print, tableLines } from "./output.ts";

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

it("shows what strangers wrote, and lets a terminal obey none of it", () => {
  const text = "\u001b]0;title\u0007\u001b[2J\u009b2J\u202egnp.exe";
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  print(false, {}, ["node: ok", `reason: ${text}`]);
  print(true, { reason: text }, []);
  const [lines, json] = write.mock.calls.map(([written]) => String(written));
  write.mockRestore();

  expect(lines).toBe("node: ok\nreason: \\u001b]0;title\\u0007\\u001b[2J\\u009b2J\\u202egnp.exe\n");
  expect(json).not.toMatch(/[\u007f-\u009f\u202e]/);
  expect(JSON.parse(json ?? "")).toEqual({ reason: text });
});
