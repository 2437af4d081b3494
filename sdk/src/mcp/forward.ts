type Forwarding = {
  /** Of the API, without `/mcp`. */
  readonly url: string;
  readonly key: string | undefined;
  readonly write: (line: string) => unknown;
};

/** What of a message decides how it is sent. */
type Message = {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: { readonly name?: unknown; readonly _meta?: Readonly<Record<string, unknown>> };
};

type Answer = {
  readonly jsonrpc?: unknown;
  readonly result?: { readonly protocolVersion?: unknown };
};

/** Where a message of revision 2026-07-28 and later names its revision. */
const revisionKey = "io.modelcontextprotocol/protocolVersion";

/**
 * MCP over stdio (one JSON message on each line) by MCP over HTTP: posts each message to `/mcp` and writes what is
 * answered. A refusal of the API itself (key, rate, load) and a broken connection are JSON-RPC errors. Ends with the input.
 */
export async function forwardMessages(
  input: AsyncIterable<Uint8Array>,
  forwarding: Forwarding,
): Promise<void> {
  const open = new Set<Promise<void>>();
  let agreed: string | undefined;
  const send = async (line: string) => {
    const message = parse<Message>(line);
    for (const text of await answersOf(message, line, agreed, forwarding)) {
      const revision = parse<Answer>(text)?.result?.protocolVersion;
      if (message?.method === "initialize" && typeof revision === "string") agreed = revision;
      forwarding.write(`${text}\n`);
    }
  };
  for await (const line of linesOf(input)) {
    const sent = send(line).finally(() => open.delete(sent));
    open.add(sent);
  }
  await Promise.all(open);
}

async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of input) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter((line) => line.trim() !== "");
  }
  if (rest.trim() !== "") yield rest;
}

async function answersOf(
  message: Message | undefined,
  line: string,
  agreed: string | undefined,
  { url, key }: Forwarding,
): Promise<string[]> {
  const failed = (text: string) => {
    if (message !== undefined && message.id === undefined) return [];
    const error = { code: -32_000, message: text };
    return [JSON.stringify({ jsonrpc: "2.0", id: message?.id ?? null, error })];
  };
  try {
    const response = await fetch(`${url.replace(/\/+$/, "")}/mcp`, {
      method: "POST",
      headers: headersOf(message, agreed, key),
      body: line,
    });
    const text = await response.text();
    if (response.headers.get("content-type")?.startsWith("text/event-stream"))
      return eventsOf(text);
    if (text === "") return response.ok ? [] : failed(`HTTP ${response.status}`);
    if (parse<Answer>(text)?.jsonrpc === "2.0") return [text];
    return failed(refusalOf(text) ?? `HTTP ${response.status}`);
  } catch (error) {
    return failed(`network: ${error instanceof Error ? causeOf(error) : error}`);
  }
}

function headersOf(message: Message | undefined, agreed: string | undefined, key?: string) {
  const named = message?.params?._meta?.[revisionKey];
  const name = message?.params?.name;
  const isNamed = typeof named === "string";
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...(key && { "x-api-key": key }),
    ...(isNamed && { "mcp-protocol-version": named, "mcp-method": message?.method ?? "" }),
    ...(isNamed && typeof name === "string" && { "mcp-name": headerText(name) }),
    ...(!isNamed && agreed !== undefined && { "mcp-protocol-version": agreed }),
  };
}

/** As the specification has it: what a header cannot hold is sent in base64. */
function headerText(text: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?"))
    return text;
  const bytes = new TextEncoder().encode(text);
  return `=?base64?${btoa(String.fromCharCode(...bytes))}?=`;
}

const eventsOf = (text: string) =>
  text.split(/\r?\n\r?\n/).flatMap((event) => {
    const data = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
    const joined = data.map((line) => line.slice(5).trimStart()).join("");
    return joined === "" ? [] : [joined];
  });

function refusalOf(text: string): string | undefined {
  const { code, message } = parse<{ code?: string; message?: string }>(text) ?? {};
  return code === undefined ? undefined : `${code}: ${message}`;
}

const causeOf = ({ message, cause }: Error) =>
  cause instanceof Error ? `${message}: ${cause.message}` : message;

function parse<Shape>(text: string): Shape | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Shape) : undefined;
  } catch {
    return undefined;
  }
}
