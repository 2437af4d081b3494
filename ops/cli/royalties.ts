import { type Command, InvalidArgumentError } from "commander";
import { type Address, zeroAddress } from "viem";
import type { ChainId } from "#chains/index.ts";
import { operatorRoyaltyStated } from "#projections/collections/facts.ts";
import { partnerNames } from "#projections/domain/partners.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { decideHeldFees, type HeldFees, readHeldFees } from "#projections/partners/sync-fees.ts";
import { type Contract, parseContract, parseContracts } from "./arguments.ts";
import { withDatabase } from "./open-database.ts";
import { type JsonFlag, print } from "./output.ts";

type Decision = "accepted" | "refused";

/** `op royalties list`, `accept`, `refuse`, `set` and `unset` */
export function addRoyalties(program: Command): void {
  const royalties = program.command("royalties").description("royalties of collections");
  const command = (name: string, description: string) =>
    royalties.command(name).description(description);
  command("list", "list creator fees of partners that wait for a decision").action(list);
  command("accept", "put a partner's creator fees that wait into force")
    .argument("<contract>", "chain:address", parseContract)
    .action(decide("accepted"));
  command("refuse", "keep what counts now, until the partner says something else")
    .argument("<contract>", "chain:address", parseContract)
    .action(decide("refused"));
  command("set", "set the royalty of contracts over all other sources; --bps 0: none")
    .argument("<contracts...>", "chain:address of each contract", parseContracts)
    .requiredOption("--bps <bps>", "share of the price in basis points", parseBps)
    .option("--recipient <address>", "who is paid", parseRecipient)
    .action(set);
  command("unset", "withdraw what was set: the other sources count again")
    .argument("<contracts...>", "chain:address of each contract", parseContracts)
    .action((contracts: Contract[], { json }: JsonFlag) => state("unset", contracts, null, json));
}

function parseBps(text: string): number {
  if (/^\d{1,4}$/.test(text) || text === "10000") return Number(text);
  throw new InvalidArgumentError("expected 0 to 10000");
}

function parseRecipient(text: string): Address {
  const address = text.toLowerCase() as Address;
  if (/^0x[0-9a-f]{40}$/.test(address) && address !== zeroAddress) return address;
  throw new InvalidArgumentError("expected an address, 0x and 40 hex digits, not the zero address");
}

async function list({ json }: JsonFlag): Promise<void> {
  await withDatabase("royalties list", async ({ db }) => {
    const held = await readHeldFees(db);
    const lines = held.length === 0 ? ["nothing waits for a decision"] : held.flatMap(linesOf);
    print(json, { held }, lines);
  });
}

function linesOf({
  marketplace,
  chainId,
  contract,
  pendingReason,
  fees,
  inForce,
}: HeldFees): string[] {
  const text = (some: HeldFees["fees"]) =>
    some
      .map(
        ({ bps, recipient, isRequired }) =>
          `${bps} bps to ${recipient}${isRequired ? "" : " (optional)"}`,
      )
      .join(", ") || "none";
  return [
    `${chainId}:${contract}  ${marketplace}  ${pendingReason.replaceAll("_", " ")}`,
    `    waiting   ${text(fees)}`,
    `    in force  ${inForce === null ? "none before" : text(inForce)}`,
  ];
}

const decide =
  (decision: Decision) =>
  async ({ chainId, address }: Contract, { json }: JsonFlag): Promise<void> => {
    await withDatabase(`royalties ${decision}`, async ({ db }) => {
      const decided = await decideAll(
        db,
        { chainId: chainId as ChainId, contract: address },
        decision,
      );
      if (decided.length === 0) process.exitCode = 1;
      const lines = decided.map(({ marketplace }) => `${marketplace}: ${decision}`);
      print(json, { decided }, decided.length === 0 ? ["nothing waits there"] : lines);
    });
  };

/** Of every partner. */
async function decideAll(
  db: Database,
  contract: Pick<HeldFees, "chainId" | "contract">,
  decision: Decision,
): Promise<HeldFees[]> {
  const decided: HeldFees[] = [];
  for (const marketplace of partnerNames) {
    const one = await decideHeldFees(db, { marketplace, ...contract }, decision, new Date());
    if (one !== null) decided.push(one);
  }
  return decided;
}

async function set(
  contracts: Contract[],
  { bps, recipient, json }: JsonFlag & { bps: number; recipient?: Address },
  command: Command,
): Promise<void> {
  if (bps > 0 && recipient === undefined) {
    command.error("--recipient is required unless --bps is 0", { exitCode: 2 });
  }
  await state("set", contracts, { bps, recipient: bps === 0 ? null : (recipient ?? null) }, json);
}

async function state(
  name: "set" | "unset",
  contracts: readonly Contract[],
  royalty: { recipient: Address | null; bps: number } | null,
  json: boolean | undefined,
): Promise<void> {
  await withDatabase(`royalties ${name}`, async ({ db }) => {
    const at = new Date();
    const facts = contracts.map(({ chainId, address: contract }) =>
      operatorRoyaltyStated({ chainId: chainId as ChainId, contract, royalty, at }),
    );
    const { appended } = await appendObservations(db, facts);
    print(json, { recorded: Number(appended), royalty }, [`recorded for ${appended} contracts`]);
  });
}
