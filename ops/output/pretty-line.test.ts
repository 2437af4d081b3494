import { expect, it } from "vitest";
import { openLiveLine } from "./live-line.ts";
import { openPrettyFormat } from "./logger.ts";

const format = openPrettyFormat(false);

it("formats a log line as text with its fields as key=value", () => {
  const line = { level: 30, time: 0, part: "projector", msg: "projection rebuilt" };
  const fields = {
    projection: "sales",
    facts: 12,
    chains: [{ chainId: 1, block: 7 }],
    note: "a b",
  };
  expect(format(JSON.stringify({ ...line, ...fields }))).toMatch(
    /INFO: projector: projection rebuilt projection=sales facts=12 chains=\[\{chainId=1 block=7\}\] note="a b"\n$/,
  );
});

it("shows the stack of an error below the message", () => {
  const err = { type: "Error", message: "refused", stack: "Error: refused\n    at connect" };
  const text = format(JSON.stringify({ level: 50, time: 0, part: "api", msg: "read failed", err }));
  expect(text).toMatch(/ERROR: api: read failed \n {4}Error: refused\n {8}at connect\n$/);
});

it("leaves text that is not JSON as it is", () => {
  expect(format("FATAL ERROR: out of memory")).toContain("FATAL ERROR: out of memory");
});

it("shows control characters, and marks of direction, instead of sending them to the terminal", () => {
  const hostile = "a\u001b]0;title\u0007\u001b[2J\u009b31m\u202eb";
  const line = { level: 40, time: 0, part: hostile, msg: hostile, reason: hostile };
  const nested = { [hostile]: { note: `${hostile} b` }, list: [hostile] };
  const err = { message: hostile, stack: `Error: ${hostile}\n    at ${hostile}` };
  const texts = [
    format(JSON.stringify({ ...line, ...nested })),
    format(JSON.stringify({ ...line, err })),
    format(JSON.stringify({ ...line, err: { message: hostile } })),
    format(`not JSON: ${hostile}`),
    format(`{not JSON: ${hostile}`),
  ];
  for (const text of texts) {
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
    expect(text).toContain("\\u001b[2J");
  }
});

it("keeps one changing line below the finished ones on a terminal, and writes none elsewhere", () => {
  const written: string[] = [];
  const output = { columns: 12, write: (text: string) => written.push(text) > 0 };
  const terminal = openLiveLine({ ...output, isTTY: true });
  terminal.show("indexing 10 %");
  terminal.print("a line\n");
  terminal.clear();
  expect(written).toEqual(["\r\u001b[Kindexing 10", "\r\u001b[Ka line\nindexing 10", "\r\u001b[K"]);

  written.length = 0;
  const file = openLiveLine({ ...output, isTTY: false });
  file.show("indexing 10 %");
  file.print("a line\n");
  file.clear();
  expect(written).toEqual(["a line\n"]);
});
