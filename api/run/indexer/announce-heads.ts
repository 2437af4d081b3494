/** The two sides of the relay; each takes a message of JSON-RPC as text. */
type Peers = {
  sendToSubscriber(text: string): void;
  sendToChain(text: string): void;
};

type HeadAnnouncer = {
  /** Takes a message of the subscriber and passes it on. */
  receiveFromSubscriber(text: string): void;
  /** Takes a message of the chain and passes it on. */
  receiveFromChain(text: string): void;
  end(): void;
};

const repeatAfterMs = 250;
/** Repetitions of a head: for about the first minute of a subscription, and later. */
const repetitions = { first: 240, later: 1 };

/** Of our own request; the subscriber's has another. */
const headRequestId = 2_000_000_000;
const headRequest = JSON.stringify({
  ...{ jsonrpc: "2.0", id: headRequestId },
  ...{ method: "eth_getBlockByNumber", params: ["latest", false] },
});

/**
 * Sends a subscriber to new blocks (`eth_subscribe`, `newHeads`) the newest block as soon as it has subscribed, and each
 * block again a moment later.
 *
 * Ponder acts only when a block is announced: it fetches up to 50 blocks that it lacks, or, when they do not follow those
 * that it has, takes those back and waits for the next announcement. With one announcement a block it is behind after
 * each start and each reorg: 12 to 24 s on Ethereum, and for good on a chain without new blocks. The announcement of a
 * block that it has costs it nothing.
 */
export function announceHeads({ sendToSubscriber, sendToChain }: Peers): HeadAnnouncer {
  let subscribing: unknown;
  let subscription: unknown;
  let head: string | undefined;
  let repetitionsLeft = repetitions.first;
  const timer = setInterval(() => {
    if (head === undefined || repetitionsLeft === 0) return;
    repetitionsLeft -= 1;
    sendToSubscriber(head);
  }, repeatAfterMs);
  const announce = (text: string) => {
    head = text;
    repetitionsLeft = Math.max(repetitionsLeft, repetitions.later);
    sendToSubscriber(text);
  };
  const announceNewest = (block: unknown) => {
    // Another may have been announced meanwhile, or the chain refuses the request or the subscription.
    if (head !== undefined || typeof subscription !== "string" || !isBlock(block)) return;
    announce(notification(subscription, block));
  };
  const receiveFromSubscriber = (text: string) => {
    const { id, method } = parse(text);
    if (method === "eth_subscribe") subscribing = id;
    sendToChain(text);
  };
  const receiveFromChain = (text: string) => {
    const message = parse(text);
    if (message.id === headRequestId) return announceNewest(message.result);
    if (message.method === "eth_subscription") return announce(text);
    sendToSubscriber(text);
    if (message.id === undefined || message.id !== subscribing) return;
    subscription = message.result;
    sendToChain(headRequest);
  };
  return { receiveFromSubscriber, receiveFromChain, end: () => clearInterval(timer) };
}

type Message = { id?: unknown; method?: unknown; result?: unknown };

function parse(text: string): Message {
  try {
    return (JSON.parse(text) as Message | null) ?? {};
  } catch {
    return {};
  }
}

const isBlock = (result: unknown): result is object =>
  typeof result === "object" && result !== null && "hash" in result;

/** A header, as a block without its transactions. */
function notification(subscription: string, block: object): string {
  const result = { ...block, transactions: undefined };
  return JSON.stringify({
    ...{ jsonrpc: "2.0", method: "eth_subscription" },
    params: { subscription, result },
  });
}
