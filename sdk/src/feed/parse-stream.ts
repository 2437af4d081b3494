/** A server-sent event; without data it only says how far the stream is. */
export type Message = { readonly id: string; readonly data: string };

/**
 * The messages of a stream, by the rules of the HTML standard, but for `event` and `retry`, which are not needed here.
 * An unfinished message at the end is dropped. `heard` is called with every part that arrives.
 */
export async function* parseStream(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<Message> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      text += decoder.decode(value, { stream: true });
      // A lone carriage return at the end may be the first half of a line's end.
      const blocks = text.split(/\r\n\r\n|\n\n|\r\r(?!$)/);
      text = blocks.pop() ?? "";
      for (const block of blocks) yield parseMessage(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parseMessage(block: string): Message {
  let id = "";
  const data: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    // By JSON a text may hold U+2028, which ends a line for `.` and no line of a stream.
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "id") id = value;
    if (name === "data") data.push(value);
  }
  return { id, data: data.join("\n") };
}
