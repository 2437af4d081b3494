import { once } from "node:events";
import { WebSocket } from "ws";
import { openHeadReader } from "../../background/chain/fetch-head.ts";
import type { ChainConfig } from "../config/chain-config.ts";
import { maskUrl } from "../config/setting.ts";

/** The RPCs that Ponder may use, and the faults of the configured ones, as text without keys. */
export type CheckedRpcs = {
  rpcUrls: string[];
  wsUrl: string | null;
  /** URLs that serve another chain. */
  wrongUrls: string[];
  faults: string[];
};

const answerTimeoutMs = 5_000;

/**
 * Checks the chain id of every RPC, which Ponder does not. An RPC of another chain is not used; one that does not answer
 * is a fallback as long as another one is verified. Without a verified one no RPC is returned. A websocket that does not
 * answer is not used: Ponder would wait for its blocks.
 */
export async function checkRpcs(chain: ChainConfig): Promise<CheckedRpcs> {
  const [https, wsFault] = await Promise.all([
    Promise.all(chain.rpcUrls.map((url) => checkHttp(url, chain.chainId))),
    chain.wsUrl === null ? undefined : checkWebsocket(chain.wsUrl, chain.chainId),
  ]);
  const checks = wsFault === undefined ? https : [...https, wsFault];
  const verifiedFirst = https.toSorted((a, b) => Number(b.proven) - Number(a.proven));
  return {
    rpcUrls: https.some(({ proven: isVerified }) => isVerified)
      ? verifiedFirst.filter(({ wrong: isWrongChain }) => !isWrongChain).map(({ url }) => url)
      : [],
    wsUrl: wsFault === undefined ? chain.wsUrl : null,
    wrongUrls: checks.filter(({ wrong }) => wrong).map(({ url }) => url),
    faults: checks.flatMap(({ fault }) => fault ?? []),
  };
}

type RpcCheck = { url: string; proven: boolean; wrong: boolean; fault?: string };

async function checkHttp(url: string, chainId: number): Promise<RpcCheck> {
  const read = openHeadReader({
    chainId,
    rpcUrls: [url],
    timeoutMs: answerTimeoutMs,
    maxAgeMs: 0,
    staleBlocks: 0,
  });
  const { head, faults } = await read();
  const [fault] = faults;
  return {
    url,
    proven: head !== null,
    wrong: fault?.kind === "wrong_chain",
    ...(fault ? { fault: `RPC ${fault.message}` } : {}),
  };
}

async function checkWebsocket(url: string, chainId: number): Promise<RpcCheck | undefined> {
  const failed = (fault: string) => ({ url, proven: false, wrong: false, fault });
  const socket = new WebSocket(url, { handshakeTimeout: answerTimeoutMs });
  socket.on("error", () => {});
  try {
    const isOpen = await once(socket, "open").catch(() => null);
    if (isOpen === null) return failed(`websocket ${maskUrl(url)} is down`);
    const served = await readChainId(socket).catch(() => null);
    if (served === null) return failed(`websocket ${maskUrl(url)} did not answer`);
    if (served === chainId) return undefined;
    const fault = `websocket ${maskUrl(url)} serves chain ${served}, not ${chainId}`;
    return { url, proven: false, wrong: true, fault };
  } finally {
    socket.terminate();
  }
}

async function readChainId(socket: WebSocket): Promise<number> {
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] }));
  const [data] = await once(socket, "message", { signal: AbortSignal.timeout(answerTimeoutMs) });
  const { result } = JSON.parse(`${data}`) as { result?: unknown };
  if (typeof result !== "string") throw new Error("eth_chainId returned no string");
  return Number(result);
}
