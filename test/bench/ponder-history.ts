import { type Address, keccak256, type PrivateKeyAccount, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { ChainId } from "../../abis/deployments.ts";
import { type Random, seededRandom } from "../../devnet/market/random.ts";
import type { Observation } from "../../projections/log/append.ts";
import {
  type Call,
  cancelCall,
  counterCall,
  editionsCall,
  fillCall,
  mintCall,
  openingCalls,
  transferCall,
  validateCall,
} from "./ponder-calls.ts";
import { orderBook } from "./ponder-orders.ts";

type Place = { chainId: ChainId; hot: Address; others: readonly Address[]; timestamp: number };
type Token = { contract: Address; tokenId: bigint; owner: PrivateKeyAccount };

/** A call, and how many events it emits, approvals left out. */
type Act = { call: Call; events: number };

const PEOPLE = 300;
/** They do nothing else, so that nobody's orders end with their counter. */
const COUNTERS = 20;
const MINTED = 4;

/** How often what happens, in hundredths; the last one is told by what is left. */
const shares = { mint: 20, fill: 24, transfer: 40, editions: 6, cancel: 4, validate: 5 } as const;

export type History = {
  people: readonly Address[];
  /** What everybody sends before anything else. */
  openings(): Call[];
  /** Calls that do not depend on each other. */
  next(count: number): Promise<Call[]>;
  /** How many events all calls so far emit, approvals left out. */
  events(): number;
  orders(): Observation[];
};

/** What people do on an exchange's chain: of seven events one is a fill. */
export function historyOf(place: Place): History {
  const random = seededRandom(7);
  const people = Array.from({ length: PEOPLE }, (_, index) =>
    privateKeyToAccount(keccak256(stringToHex(`bench person ${index}`))),
  );
  const stock = openStock(random);
  const book = orderBook({ chainId: place.chainId, timestamp: place.timestamp, random });
  const act = actor({ ...place, random, people, stock, book });
  let events = 0;
  return {
    people: people.map(({ address }) => address),
    openings() {
      events += PEOPLE;
      return people.flatMap(({ address }) => openingCalls(address, [place.hot, ...place.others]));
    },
    async next(count) {
      stock.beginBlock();
      const calls: Call[] = [];
      while (calls.length < count) {
        const acted = await act();
        calls.push(acted.call);
        events += acted.events;
      }
      return calls;
    },
    events: () => events,
    orders: book.orders,
  };
}

type Scene = Place & {
  random: Random;
  people: readonly PrivateKeyAccount[];
  stock: ReturnType<typeof openStock>;
  book: ReturnType<typeof orderBook>;
};

/** One act after the other; what needs a token is a mint where none is free. */
function actor(scene: Scene): () => Promise<Act> {
  const { random, stock } = scene;
  const [withToken, without] = [actsWithToken(scene), actsWithout(scene)];
  return async () => {
    const what = drawKind(random);
    if (what === "mint" || what === "editions" || what === "counter") return without[what]();
    const token = stock.draw();
    return token === undefined ? without.mint() : await withToken[what](token);
  };
}

function actsWithToken({ random, people, book }: Scene) {
  const anybody = () => pick(random, people, COUNTERS);
  return {
    fill: async (token: Token): Promise<Act> => {
      const { order, priceWei } = await book.sign(token);
      token.owner = anybody();
      return { call: fillCall(order, token.owner.address, priceWei), events: 2 };
    },
    transfer: async (token: Token): Promise<Act> => {
      const giver = token.owner.address;
      token.owner = anybody();
      const { contract, tokenId, owner } = token;
      return { call: transferCall(giver, contract, tokenId, owner.address), events: 1 };
    },
    cancel: async (token: Token): Promise<Act> => {
      return { call: cancelCall((await book.sign(token)).order), events: 1 };
    },
    validate: async (token: Token): Promise<Act> => {
      return { call: validateCall((await book.sign(token)).order), events: 1 };
    },
  };
}

function actsWithout({ random, people, stock, hot, others }: Scene) {
  const anybody = () => pick(random, people, COUNTERS);
  const collection = () => (random.below(2) === 0 ? hot : pick(random, others));
  return {
    mint: (): Act => ({ call: stock.mint(anybody(), collection()), events: MINTED }),
    editions: (): Act => {
      const places = [random.below(100), random.below(100), random.below(100)];
      return { call: editionsCall(anybody().address, anybody().address, places), events: 1 };
    },
    counter: (): Act => ({
      call: counterCall(pick(random, people.slice(0, COUNTERS)).address),
      events: 1,
    }),
  };
}

/** Tokens and whose they are. */
function openStock(random: Random) {
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
    /** One that nothing has happened to in this block. */
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
  if (item === undefined) throw new Error("there is nothing to pick from");
  return item;
}
