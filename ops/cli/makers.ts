import type { Command } from "commander";
import type { Address } from "viem";
import {
  type BlockedMaker,
  blockMaker,
  readAllBlocked,
  unblockMaker,
} from "#api/orders/intake/makers.ts";
import { parseAddress } from "./arguments.ts";
import { withDatabase } from "./open-database.ts";
import { type JsonFlag, print, tableLines } from "./output.ts";

/** `op makers block`, `op makers unblock` and `op makers list` */
export function addMakers(program: Command): void {
  const makers = program.command("makers").description("makers whose orders are refused");
  makers
    .command("block")
    .description("refuse new orders of a maker; orders in the book stay until they end")
    .argument("<address>", "the maker", parseAddress)
    .option("--reason <text>", "note for operators")
    .action(block);
  makers
    .command("unblock")
    .description("accept orders of a maker again")
    .argument("<address>", "the maker", parseAddress)
    .action(unblock);
  makers.command("list").description("list blocked makers, the latest first").action(list);
}

async function block(
  address: Address,
  { reason, json }: JsonFlag & { reason?: string },
): Promise<void> {
  await withDatabase("makers block", async ({ db }) => {
    await blockMaker(db, address, reason ?? null);
    print(json, { address, isBlocked: true }, [`new orders of ${address} are refused`]);
  });
}

async function unblock(address: Address, { json }: JsonFlag): Promise<void> {
  await withDatabase("makers unblock", async ({ db }) => {
    const hasChanged = await unblockMaker(db, address);
    const line = hasChanged ? `orders of ${address} are accepted` : `${address} was not blocked`;
    print(json, { address, isBlocked: false, hasChanged }, [line]);
  });
}

async function list({ json }: JsonFlag): Promise<void> {
  await withDatabase("makers list", async ({ db }) => {
    const makers = await readAllBlocked(db);
    print(json, { makers }, makerLines(makers));
  });
}

function makerLines(makers: readonly BlockedMaker[]): string[] {
  if (makers.length === 0) return ["no maker is blocked"];
  const rows = makers.map(({ address, blockedAt, reason }) => [
    address,
    blockedAt.toISOString(),
    reason ?? "",
  ]);
  return tableLines([["maker", "blocked", "reason"], ...rows]);
}
