import { type Address, keccak256, type PrivateKeyAccount, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { ChainId } from "#chains/index.ts";
import { type Random, seededRandom } from "#devnet/market/random.ts";
import type { Observation } from "#projections/log/append.ts";
import {
  accountSetupCalls,
  type Call,
  cancelCall,
  counterCall,
  editionsCall,
  fillCall,
  mintCall,
  transferCall,
  validateCall,
} from "./calls.ts";
import { openSignedOrders } from "./orders.ts";

type ChainSetup = { chainId: ChainId; hot: Address; others: readonly Address[]; timestamp: number };
type Token = { contract: Address; tokenId: bigint; owner: PrivateKeyAccount };

/** A call and how many events it emits, without approvals. */
type Action = { call: Call; events: number };

const PEOPLE = 300;
/** Accounts that only increment their counters, so that nobody else's orders are cancelled. */
const COUNTERS = 20;
const MINTED = 4;

/** Frequencies in percent; the rest are counter increments. */
const shares = { mint: 20, fill: 24, transfer: 40, editions: 6, cancel: 4, validate: 5 } as const;

export type History = {
  people: readonly Address[];
  /** Calls that every account sends first. */
  setupCalls(): Call[];
  /** Calls that do not depend on each other. */
  next(count: number): Promise<Call[]>;
  /** How many events all calls so far emit, without approvals. */
  events(): number;
  orders(): Observation[];
};

/** Random activity on a chain with an exchange: one event in seven is a fill. */
export function historyOf(setup: ChainSetup): History {
  const random = seededRandom(7);
  const people = Array.from({ length: PEOPLE }, (_, index) =>
    privateKeyToAccount(keccak256(stringToHex(`bench person ${index}`))),
  );
  const tokenPool = openTokenPool(random);
  const signedOrders = openSignedOrders({
    chainId: setup.chainId,
    timestamp: setup.timestamp,
    random,
  });
  const nextAction = openActions({ ...setup, random, people, tokenPool, signedOrders });
  let events = 0;
  return {
    people: people.map(({ address }) => address),
    setupCalls() {
      events += PEOPLE;
      return people.flatMap(({ address }) =>
        accountSetupCalls(address, [setup.hot, ...setup.others]),
      );
    },
    async next(count) {
      tokenPool.beginBlock();
      const calls: Call[] = [];
      while (calls.length < count) {
        const action = await nextAction();
        calls.push(action.call);
        events += action.events;
      }
      return calls;
    },
    events: () => events,
    orders: signedOrders.orders,
  };
}

type ActionContext = ChainSetup & {
  random: Random;
  people: readonly PrivateKeyAccount[];
  tokenPool: ReturnType<typeof openTokenPool>;
  signedOrders: ReturnType<typeof openSignedOrders>;
};

/** Draws one action after the other; one that needs a token becomes a mint when none is free. */
function openActions(context: ActionContext): () => Promise<Action> {
  const { random, tokenPool } = context;
  const [withToken, without] = [tokenActions(context), otherActions(context)];
  return async () => {
    const kind = drawKind(random);
    if (kind === "mint" || kind === "editions" || kind === "counter") return without[kind]();
    const token = tokenPool.draw();
    return token === undefined ? without.mint() : await withToken[kind](token);
  };
}

function tokenActions({ random, people, signedOrders }: ActionContext) {
  const drawAccount = () => pick(random, people, COUNTERS);
  return {
    fill: async (token: Token): Promise<Action> => {
      const { order, priceWei } = await signedOrders.sign(token);
      token.owner = drawAccount();
      return { call: fillCall(order, token.owner.address, priceWei), events: 2 };
    },
    transfer: async (token: Token): Promise<Action> => {
      const giver = token.owner.address;
      token.owner = drawAccount();
      const { contract, tokenId, owner } = token;
      return { call: transferCall(giver, contract, tokenId, owner.address), events: 1 };
    },
    cancel: async (token: Token): Promise<Action> => {
      return { call: cancelCall((await signedOrders.sign(token)).order), events: 1 };
    },
    validate: async (token: Token): Promise<Action> => {
      return { call: validateCall((await signedOrders.sign(token)).order), events: 1 };
    },
  };
}

function otherActions({ random, people, tokenPool, hot, others }: ActionContext) {
  const drawAccount = () => pick(random, people, COUNTERS);
  const collection = () => (random.below(2) === 0 ? hot : pick(random, others));
  return {
    mint: (): Action => ({ call: tokenPool.mint(drawAccount(), collection()), events: MINTED }),
    editions: (): Action => {
      const editions = [random.below(100), random.below(100), random.below(100)];
      return {
        call: editionsCall(drawAccount().address, drawAccount().address, editions),
        events: 1,
      };
    },
    counter: (): Action => ({
      call: counterCall(pick(random, people.slice(0, COUNTERS)).address),
      events: 1,
    }),
  };
}

/** Tokens and their owners. */
function openTokenPool(random: Random) {
  const tokens: Token[] = [];
  const busy = new Set<Token>();
  let minted = 0;
  return {
    beginBlock: () => busy.clear(),
    mint(owner: PrivateKeyAccount, contract: Address): Call {
      const firstId = minted;
      for (; minted < firstId + MINTED; minted += 1) {
        const token = { contract, tokenId: BigInt(minted), owner };
        tokens.push(token);
        busy.add(token);
      }
      return mintCall(owner.address, contract, BigInt(firstId), MINTED);
    },
    /** A token unused in this block. */
    draw(): Token | undefined {
      for (let tries = 0; tries < 10; tries += 1) {
        const token = tokens[random.below(tokens.length)];
        if (token === undefined || busy.has(token)) continue;
        busy.add(token);
        return token;
      }
      return undefined;
    },
  };
}

function drawKind(random: Random): keyof typeof shares | "counter" {
  let left = random.below(100);
  for (const [kind, share] of Object.entries(shares)) {
    if (left < share) return kind as keyof typeof shares;
    left -= share;
  }
  return "counter";
}

function pick<Item>(random: Random, items: readonly Item[], from = 0): Item {
  const item = items[from + random.below(items.length - from)];
  if (item === undefined) throw new Error("no items to pick from");
  return item;
}
