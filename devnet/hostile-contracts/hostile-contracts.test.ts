import { type Address, encodeFunctionData, maxUint256 } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { accounts } from "../accounts.ts";
import { type Anvil, startAnvil } from "../anvil.ts";
import { connect, type DevnetClient } from "../client.ts";
import { collectionAbi } from "../contracts/abis.ts";
import { installTokens } from "../install.ts";
import { members, release } from "./members.ts";

let anvil: Anvil;
let client: DevnetClient;

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 33139 });
  client = connect(anvil);
  await installTokens(client);
});

afterAll(() => anvil.stop());

const logsOf = (address: Address) => client.getLogs({ address, fromBlock: 0n });
const ask = (address: Address, account: Address, gas?: bigint) =>
  client.readContract({
    abi: collectionAbi,
    address,
    functionName: "ownerOf",
    args: [1n],
    account,
    ...(gas !== undefined && { gas }),
  });
const uriOf = (to: Address) =>
  client.call({
    to,
    data: encodeFunctionData({ abi: collectionAbi, functionName: "tokenURI", args: [1n] }),
    gas: 1_000_000n,
  });

it.each(Object.keys(members))(
  "%s is made anew each round and is seen by its events",
  async (name) => {
    const [first, second] = [await release(client, name, 1), await release(client, name, 2)];

    expect(first.address).not.toBe(second.address);
    expect(first.gas).toBeGreaterThan(21_000n);
    const logs =
      name === "many-contracts"
        ? await client.getLogs({ fromBlock: "latest" })
        : await logsOf(second.address);
    expect(logs.length).toBeGreaterThan(0);
  },
);

it("does its tricks", async () => {
  const addressOf = async (name: string) => (await release(client, name, 3)).address;
  const { alice, bob } = accounts;

  expect(await logsOf(await addressOf("range-flood"))).toHaveLength(150);
  expect((await logsOf(await addressOf("last-ids"))).at(-1)?.topics[3]).toBe(
    `0x${maxUint256.toString(16)}`,
  );
  const byCaller = await addressOf("owner-by-caller");
  expect(await ask(byCaller, alice.address)).toBe(alice.address);
  expect(await ask(byCaller, bob.address)).toBe(bob.address);
  const byGas = await addressOf("owner-by-gas");
  expect(await ask(byGas, alice.address, 100_000n)).not.toBe(
    await ask(byGas, alice.address, 200_000n),
  );
  for (const name of ["endless-uri", "gas-burner", "revert-bomb"]) {
    await expect(uriOf(await addressOf(name)), name).rejects.toThrow();
  }
  expect(await logsOf(await addressOf("reentering"))).toHaveLength(16);
});

it("refuses another name", async () => {
  await expect(release(client, "unicorn", 1)).rejects.toThrow("no hostile contract unicorn");
});
