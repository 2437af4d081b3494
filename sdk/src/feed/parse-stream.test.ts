import { expect, it } from "vitest";
import { parseStream } from "./parse-stream.ts";

/** The messages of a stream that arrives in these parts. */
async function parse(...parts: string[]) {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  const messages: [id: string, data: string][] = [];
  for await (const { id, data } of parseStream(body, () => undefined)) messages.push([id, data]);
  return messages;
}

it("messages are parsed whatever the line ends and wherever they are cut", async () => {
  const lines = [
    "id: 1",
    "event: sale",
    "data: a",
    "data:b",
    "",
    ": heartbeat",
    "id: 2",
    "",
    "id: 3",
  ];
  const expected = [
    ["1", "a\nb"],
    ["2", ""],
  ];
  for (const end of ["\n", "\r\n"])
    for (let cut = 0; cut < lines.join(end).length; cut += 1) {
      const text = lines.join(end);
      expect(await parse(text.slice(0, cut), text.slice(cut))).toEqual(expected);
    }
});

it("a separator of lines that JSON leaves as it is ends no line", async () => {
  const data = JSON.stringify({ text: "a\u2028b\u2029c" });
  expect(await parse(`id: 1\ndata: ${data}\n\n`)).toEqual([["1", data]]);
});
