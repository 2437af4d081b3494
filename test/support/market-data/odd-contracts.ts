import {
  type Address,
  concatHex,
  encodeAbiParameters,
  type Hex,
  maxUint256,
  numberToHex,
  padHex,
  stringToHex,
  zeroAddress,
} from "viem";
import type { Random } from "#test/simulation/random.ts";
import type { MadeAnswer, MadeLog } from "../chain/made-code.ts";
import { addressOf } from "../database/given.ts";

/** What a contract says of itself, and the text that is to be read from it; null: none. */
type Said = { answer: MadeAnswer | undefined; text: string | null };

export type OddContract = {
  readonly address: Address;
  /** What it emits, a transaction each. */
  readonly rounds: readonly (readonly MadeLog[])[];
  /** How it answers, by the beginning of the calldata; null: no code is left of it. */
  readonly answers: ReadonlyMap<Hex, MadeAnswer> | null;
  readonly name: string | null;
  readonly symbol: string | null;
  /** How it answers `supportsInterface` for both standards, `decimals()` or `allowance`, and `ownerOf` of any id. */
  readonly claims721: boolean;
  readonly claims1155: boolean;
  readonly answersAsCoin: boolean;
  /** null: no word of an address. */
  readonly statedOwner: Address | null;
};

export const topic = {
  transfer: "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  single: "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62",
  batch: "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb",
  range: "0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d",
} as const;

const dead: Address = "0x000000000000000000000000000000000000dead";
const holders = [1, 2, 3].map((index) => addressOf(300 + index));
const word = (value: bigint) => numberToHex(value, { size: 32 });
const yes = word(1n);

/** A contract's events and answers, all drawn: what standards forbid is as likely as what they ask for. */
export function drawOddContract(random: Random, address: Address): OddContract {
  const shapes = random.shuffle(eventShapes).slice(0, random.int(1, 4));
  const draw = () => random.pick(shapes)(random);
  const rounds = Array.from({ length: random.int(1, 3) }, () =>
    Array.from({ length: random.int(1, 8) }, draw),
  );
  const [name, symbol] = [drawText(random), drawText(random)];
  const flag = () =>
    random.pick<MadeAnswer | undefined>([yes, word(0n), word(2n), "0x01", undefined, "endless"]);
  const [is721, is1155] = [flag(), flag()];
  const coin = random.pick<MadeAnswer | undefined>([
    word(18n),
    word(0n),
    "0x12",
    ...absent,
    ...absent,
  ]);
  const owner = drawOwner(random);
  const said: (readonly [Hex, MadeAnswer | undefined])[] = [
    ["0x06fdde03", name.answer],
    ["0x95d89b41", symbol.answer],
    ["0x01ffc9a780ac58cd", is721],
    ["0x01ffc9a7d9b67a26", is1155],
    [random.pick(["0x313ce567", "0xdd62ed3e"] as const), coin],
    ["0x6352211e", owner.answer],
    // What nobody asks for, so that each contract has code.
    ["0xffffffff", "0x"],
  ];
  const answers = new Map(
    said.flatMap(([prefix, answer]) => (answer === undefined ? [] : [[prefix, answer] as const])),
  );
  const isGone = random.chance(0.1);
  return {
    address,
    rounds,
    answers: isGone ? null : answers,
    name: isGone ? null : name.text,
    symbol: isGone ? null : symbol.text,
    claims721: is721 === yes,
    claims1155: is1155 === yes,
    answersAsCoin: typeof coin === "string" && coin.length === 66,
    statedOwner: owner.owner,
  };
}

const absent = [undefined, "endless", { reverts: "0x" }] as const;

function drawOwner(random: Random): { answer: MadeAnswer | undefined; owner: Address | null } {
  const owner = random.pick([...holders, zeroAddress]);
  return random.pick([
    { answer: padHex(owner, { size: 32 }), owner },
    { answer: padHex(owner, { size: 32 }), owner },
    { answer: undefined, owner: null },
    { answer: word(maxUint256), owner: null },
    { answer: { reverts: stringToHex("no such token") }, owner: null },
    { answer: "endless" as const, owner: null },
    { answer: "0x1234" as const, owner: null },
  ]);
}

const abiText = (text: string) => encodeAbiParameters([{ type: "string" }], [text]);
const abiBytes = (bytes: Hex) => encodeAbiParameters([{ type: "bytes" }], [bytes]);

function drawText(random: Random): Said {
  const plain = random.pick(["Apes", "Bären 🐻", "x", "<b>bold</b>", "'; drop table log.fact; --"]);
  return random.pick<Said>([
    { answer: abiText(plain), text: plain },
    { answer: abiText(plain), text: plain },
    { answer: stringToHex(plain, { size: 32 }), text: plain },
    { answer: abiText("y".repeat(9_000)), text: "y".repeat(256) },
    { answer: abiText(`a\u0000b\n\u202e${plain}`), text: `a b ${plain}` },
    { answer: abiText(" \u0000\u200b "), text: null },
    { answer: abiText(""), text: null },
    { answer: "0x", text: null },
    { answer: "0x1234", text: null },
    { answer: abiBytes("0x41ff42"), text: "A\ufffdB" },
    // An offset and a length beyond what was returned.
    { answer: concatHex([word(maxUint256), word(3n)]), text: null },
    { answer: concatHex([word(64n), word(0n)]), text: null },
    {
      answer: concatHex([word(32n), word(maxUint256), stringToHex("abc", { size: 32 })]),
      text: null,
    },
    { answer: { zeros: 1_400_000 }, text: null },
    { answer: { zeros: 10_000_000 }, text: null },
    { answer: "endless", text: null },
    { answer: { reverts: abiText("a name") }, text: null },
    { answer: undefined, text: null },
  ]);
}

type Shape = (random: Random) => MadeLog;

const party = (random: Random): Address =>
  random.pick([...holders, ...holders, zeroAddress, zeroAddress, dead]);
/** As a topic; the twelve bytes before an address mean nothing. */
const partyTopic = (random: Random): Hex => {
  const of = party(random);
  return random.chance(0.05)
    ? concatHex(["0xffffffffffffffffffffffff", of])
    : padHex(of, { size: 32 });
};
const id = (random: Random): bigint =>
  random.chance(0.15)
    ? random.pick([0n, maxUint256, maxUint256 - 1n, 2n ** 63n, 2n ** 64n, 2n ** 128n])
    : BigInt(random.int(0, 6));
const units = (random: Random): bigint =>
  random.chance(0.1)
    ? random.pick([maxUint256, 2n ** 255n, 2n ** 63n, 2n ** 53n])
    : BigInt(random.int(0, 9));
const junk = (random: Random): Hex =>
  random.pick(["0x", "0x00", word(7n), concatHex([word(1n), word(2n), word(3n)])]);

const transfer721: Shape = (random) => ({
  topics: [topic.transfer, partyTopic(random), partyTopic(random), word(id(random))],
  data: random.chance(0.1) ? junk(random) : "0x",
});
/** An ERC-20's, whose amount is no topic. */
const threeTopics: Shape = (random) => ({
  topics: [topic.transfer, partyTopic(random), partyTopic(random)],
  data: word(units(random)),
});
const oneTopic: Shape = (random) => ({
  topics: [topic.transfer],
  data: concatHex([
    padHex(party(random), { size: 32 }),
    padHex(party(random), { size: 32 }),
    word(id(random)),
  ]),
});
const amountAsTopic: Shape = (random) => ({
  topics: [
    topic.transfer,
    partyTopic(random),
    partyTopic(random),
    word((units(random) * 10n ** 18n) % 2n ** 256n),
  ],
  data: "0x",
});
const range: Shape = (random) => {
  const first = id(random);
  const last = random.pick([first, first + 1n, first + 4n, first - 1n, 0n, maxUint256]);
  const inside = last < 0n || last > maxUint256 ? first : last;
  return {
    topics: [topic.range, word(first), partyTopic(random), partyTopic(random)],
    data: random.chance(0.1) ? junk(random) : word(inside),
  };
};
const operated = (random: Random) => [partyTopic(random), partyTopic(random), partyTopic(random)];
const single: Shape = (random) => ({
  topics: [topic.single, ...operated(random)],
  data: random.chance(0.1) ? junk(random) : concatHex([word(id(random)), word(units(random))]),
});
const batch: Shape = (random) => ({
  topics: [topic.batch, ...operated(random)],
  data: random.chance(0.25) ? brokenBatch(random) : batchData(random),
});
const notEnoughTopics: Shape = (random) => ({
  topics: [random.pick([topic.single, topic.batch, topic.range]), partyTopic(random)],
  data: concatHex([word(1n), word(1n)]),
});

function batchData(random: Random): Hex {
  const list = (draw: (of: Random) => bigint) =>
    Array.from({ length: random.int(0, 4) }, () => draw(random));
  return encodeAbiParameters(
    [{ type: "uint256[]" }, { type: "uint256[]" }],
    [list(id), list(units)],
  );
}

/** Offsets and lengths that lead nowhere, to each other, or back. */
function brokenBatch(random: Random): Hex {
  return random.pick([
    junk(random),
    concatHex([word(64n), word(maxUint256), word(1n), word(5n)]),
    concatHex([word(64n), word(64n), word(2n), word(3n), word(4n)]),
    concatHex([word(64n), word(96n), word(maxUint256), word(2n)]),
    concatHex([word(64n), word(128n), word(1n), word(5n), word(9n), word(7n)]),
    concatHex([word(4_096n), word(64n), word(1n), word(5n)]),
  ]);
}

const eventShapes: readonly Shape[] = [
  ...[transfer721, transfer721, transfer721, amountAsTopic],
  ...[threeTopics, oneTopic, range, single, single, batch, batch, notEnoughTopics],
];
