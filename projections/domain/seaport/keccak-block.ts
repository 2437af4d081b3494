/**
 * Keccak-256 of messages of one block. A tree over ten thousand tokens takes 20,000 of them, for which viem's, in
 * JavaScript without 64-bit integers, needs a quarter of a second: this permutation is WebAssembly, written by its
 * definition (FIPS 202, 3.2) and assembled when the module is loaded.
 */

/** Longest message, and the bytes of a block: 1600 bits less twice the 256 of the hash. */
const maxMessage = 135;
const blockBytes = 136;
const stateBytes = 200;
const hashBytes = 32;

const op = {
  loop: [0x03, 0x40],
  end: [0x0b],
  repeatIf: [0x0d, 0],
  lessThan: [0x49],
  add: [0x6a],
  and: [0x83],
  xor: [0x85],
  rotate: [0x89],
};

/** LEB128, unsigned. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

/** LEB128, signed; of numbers that are not negative. */
function signed(value: number): number[] {
  return value < 64 ? [value] : [(value & 127) | 128, ...signed(value >>> 7)];
}

const get = (local: number) => [0x20, ...unsigned(local)];
const set = (local: number) => [0x21, ...unsigned(local)];
const constant32 = (value: number) => [0x41, ...signed(value)];
const rotatedBy = (bits: number) => [0x42, ...signed(bits), ...op.rotate];
const inverted = [0x42, 0x7f, ...op.xor];
const load = (offset: number) => [0x29, 3, ...unsigned(offset)];
const store = (offset: number) => [0x37, 3, ...unsigned(offset)];

const rounds = 24;
const lanes = Array.from({ length: 25 }, (_, lane) => lane);
const columns = [0, 1, 2, 3, 4];

/** Locals: the place of the round's constant in memory, the lanes, their successors, the parities of columns, what is added to columns. */
const place = 0;
const laneAt = (lane: number) => 1 + lane;
const nextAt = (lane: number) => 26 + lane;
const parityAt = (column: number) => 51 + (column % 5);
const addedTo = (column: number) => 56 + (column % 5);
const i64Locals = 60;

/** By how many bits lane (x, y) is rotated, and where it goes: `rho` and `pi`. */
function movesOfLanes(): { to: number; bits: number }[] {
  const moves = lanes.map((lane) => ({ to: lane, bits: 0 }));
  let [x, y] = [1, 0];
  for (let step = 0; step < rounds; step += 1) {
    const to = { x: y, y: (2 * x + 3 * y) % 5 };
    moves[x + 5 * y] = { to: to.x + 5 * to.y, bits: (((step + 1) * (step + 2)) / 2) % 64 };
    [x, y] = [to.x, to.y];
  }
  return moves;
}

function theta(): number[] {
  const parities = columns.flatMap((x) => [
    ...get(laneAt(x)),
    ...[5, 10, 15, 20].flatMap((row) => [...get(laneAt(x + row)), ...op.xor]),
    ...set(parityAt(x)),
  ]);
  const sums = columns.flatMap((x) => [
    ...[...get(parityAt(x + 4)), ...get(parityAt(x + 1)), ...rotatedBy(1), ...op.xor],
    ...set(addedTo(x)),
  ]);
  return [...parities, ...sums];
}

const rhoAndPi = (): number[] =>
  movesOfLanes().flatMap(({ to, bits }, lane) => [
    ...[...get(laneAt(lane)), ...get(addedTo(lane)), ...op.xor, ...rotatedBy(bits)],
    ...set(nextAt(to)),
  ]);

function chi(): number[] {
  return lanes.flatMap((lane) => {
    const row = lane - (lane % 5);
    const [one, two] = [nextAt(row + ((lane + 1) % 5)), nextAt(row + ((lane + 2) % 5))];
    const others = [...get(one), ...inverted, ...get(two), ...op.and];
    return [...get(nextAt(lane)), ...others, ...op.xor, ...set(laneAt(lane))];
  });
}

/** Adds the round's constant, which is in memory behind the state. */
const iota = (): number[] => [
  ...[...get(laneAt(0)), ...get(place), ...load(stateBytes), ...op.xor, ...set(laneAt(0))],
  ...[...get(place), ...constant32(8), ...op.add, ...set(place)],
];

/** The function without parameters that permutes the state at the start of the memory. */
function permutation(): number[] {
  const read = lanes.flatMap((lane) => [...constant32(0), ...load(8 * lane), ...set(laneAt(lane))]);
  const write = lanes.flatMap((lane) => [
    ...constant32(0),
    ...get(laneAt(lane)),
    ...store(8 * lane),
  ]);
  const round = [...theta(), ...rhoAndPi(), ...chi(), ...iota()];
  const again = [...get(place), ...constant32(8 * rounds), ...op.lessThan, ...op.repeatIf];
  const locals = [2, 1, 0x7f, ...unsigned(i64Locals), 0x7e];
  return [...locals, ...read, ...op.loop, ...round, ...again, ...op.end, ...write, ...op.end];
}

/** Of each round, by the shift register of FIPS 202, 3.2.5. */
function roundConstants(): bigint[] {
  let register = 1;
  const nextBit = () => {
    const bit = register & 1;
    register = (register << 1) ^ (register >> 7 === 1 ? 0x171 : 0);
    return BigInt(bit);
  };
  return Array.from({ length: rounds }, () =>
    [0, 1, 3, 7, 15, 31, 63].reduce((sum, bit) => sum | (nextBit() << BigInt(bit)), 0n),
  );
}

function assemble(): Uint8Array {
  const section = (id: number, content: number[]) => [id, ...unsigned(content.length), ...content];
  const body = permutation();
  const named = (name: string, kind: number) => [name.length, ...Buffer.from(name), kind, 0];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 0, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...named("permute", 0), ...named("memory", 2)]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ]);
}

/** What is used of the engine's: the language's own library has no types of it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (
    module: object,
  ) => {
    exports: { permute: () => void; memory: { buffer: ArrayBuffer } };
  };
};

const { permute, memory: pages } = new WebAssembly.Instance(new WebAssembly.Module(assemble()))
  .exports;
const memory = new Uint8Array(pages.buffer);
const constants = new DataView(memory.buffer, stateBytes);
for (const [round, constant] of roundConstants().entries())
  constants.setBigUint64(8 * round, constant, true);

/** Keccak-256 of at most 135 bytes. */
export function keccakOfBlock(message: Uint8Array): Uint8Array {
  if (message.length > maxMessage) throw new RangeError("the message is longer than a block");
  memory.fill(0, message.length, stateBytes);
  memory.set(message);
  memory[message.length] = 1;
  memory[blockBytes - 1] = (memory[blockBytes - 1] ?? 0) | 0x80;
  permute();
  return memory.slice(0, hashBytes);
}
