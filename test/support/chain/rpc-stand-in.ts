import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { numberToHex, pad } from "viem";
import { z } from "zod";

/** An RPC whose answers the test controls. */
export type RpcStandIn = {
  /** Holds a key, as paid RPCs do. */
  url: string;
  chainId: number;
  head: number;
  /** Answers nothing, or HTTP 500, while set. */
  mood: "well" | "silent" | "broken";
  /** Requests answered so far. */
  asked: number;
  close(): Promise<void>;
};

const Call = z.object({ id: z.number(), method: z.string() });

export async function startRpc(chainId: number, head: number): Promise<RpcStandIn> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    rpc.asked += 1;
    if (rpc.mood === "silent") return;
    if (rpc.mood === "broken") {
      response.writeHead(500).end("no");
      return;
    }
    const answers = z
      .array(Call)
      .parse(JSON.parse(Buffer.concat(chunks).toString()))
      .map(answer);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answers));
  });
  const answer = ({ id, method }: z.infer<typeof Call>) => {
    const result = method === "eth_chainId" ? numberToHex(rpc.chainId) : block(rpc.head);
    return { jsonrpc: "2.0", id, result };
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const rpc: RpcStandIn = {
    url: `http://127.0.0.1:${port}/v2/secret-key`,
    chainId,
    head,
    mood: "well",
    asked: 0,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return rpc;
}

function block(number: number) {
  return {
    number: numberToHex(number),
    hash: pad(numberToHex(number), { size: 32 }),
    timestamp: numberToHex(timestampOf(number)),
    transactions: [],
  };
}

/** Unix seconds of a stand-in's block. */
export const timestampOf = (number: number): number => 1_700_000_000 + number * 12;
