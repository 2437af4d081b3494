import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";

/** Revisions of the protocol, as a client asks for them. */
const revisions = {
  "2026-07-28": { pin: "2026-07-28" },
  "2025-11-25": "legacy",
} as const;
export type Revision = keyof typeof revisions;

/** The published client, which counts its calls. */
export type McpConnection = {
  readonly client: Client;
  /** The answer of a tool. Throws what the tool refuses with. */
  call(name: string, given?: Record<string, unknown>): Promise<unknown>;
  /** Calls since the last time that it was asked. */
  takeCalls(): number;
};

export type Place = {
  /** Of the API. */
  readonly url: string;
  readonly key?: string;
  /** Where the packed client is installed. */
  readonly directory: string;
};

const transports = {
  HTTP: ({ url, key }: Place) =>
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: key === undefined ? {} : { "X-API-Key": key } },
    }),
  stdio: ({ url, key, directory }: Place) =>
    new StdioClientTransport({
      command: "npx",
      args: ["--offline", "order-book-mcp", url],
      cwd: directory,
      env: { ...pathOnly(), ...(key !== undefined && { ORDER_BOOK_KEY: key }) },
    }),
};
export type TransportName = keyof typeof transports;

/** Every way to connect. */
export const ways = (Object.keys(transports) as TransportName[]).flatMap((transport) =>
  (Object.keys(revisions) as Revision[]).map((revision) => ({ transport, revision })),
);

const pathOnly = () => ({ PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" });

export async function connectMcp(
  { transport, revision }: { transport: TransportName; revision: Revision },
  place: Place,
): Promise<McpConnection> {
  const versionNegotiation = { mode: revisions[revision] };
  const client = new Client({ name: "a caller", version: "1.0.0" }, { versionNegotiation });
  await client.connect(transports[transport](place));
  let calls = 0;
  return {
    client,
    async call(name, given = {}) {
      calls += 1;
      const { content, isError } = await client.callTool({ name, arguments: given });
      const [{ text }] = z
        .tuple([z.object({ type: z.literal("text"), text: z.string() })])
        .parse(content);
      if (isError === true) throw new Error(text);
      return JSON.parse(text);
    },
    takeCalls() {
      const taken = calls;
      calls = 0;
      return taken;
    },
  };
}
