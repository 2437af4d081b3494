import { encodeFunctionData, maxUint256, parseAbi } from "viem";
import { commonConduit, conduitController, seaportAddresses } from "#abis/deployments.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { allPlayers, type Fixture, wallet } from "./fixture.ts";
import type { Move } from "./move.ts";
import { changeWalletOwner } from "./players.ts";
import {
  drawFrom,
  drawHeld,
  drawOther,
  drawOwned,
  drawPlayer,
  ownerOf,
  playerOf,
  wrappedOf,
} from "./tokens.ts";

const fixtureAbi = parseAbi([
  "function setBlocked(address operator, bool blocked)",
  "function isBlocked(address operator) view returns (bool)",
  "function updateChannel(address conduit, address channel, bool isOpen)",
]);

const traded = [contracts.punks, contracts.editions, contracts.guarded] as const;

export const transfersToken: Move = async (fixture) => {
  const found = await drawOwned(fixture);
  if (found === undefined) return undefined;
  // One in ten goes to its own owner.
  const to = fixture.random.below(10) === 0 ? found.owner : drawOther(fixture, found.owner);
  await found.owner.actor.transfers(found.nft, to);
  return "moved";
};

export const transfersEdition: Move = async (fixture) => {
  const found = await drawHeld(fixture);
  if (found === undefined) return undefined;
  const { owner, nft, units } = found;
  const to = fixture.random.below(10) === 0 ? owner : drawOther(fixture, owner);
  await owner.actor.transfers(nft, to, 1n + BigInt(fixture.random.below(Number(units))));
  return "moved";
};

/** Burns a token, or mints a burned one again. */
export const burnsOrMints: Move = async (fixture) => {
  const nft = drawFrom(fixture, [...fixture.tokens, ...fixture.editions]);
  if (nft === undefined) return undefined;
  if (nft.standard === "erc1155") {
    await drawPlayer(fixture).actor.mints(nft, 3n);
    return "minted";
  }
  const owner = await ownerOf(fixture, nft);
  await (owner === undefined ? drawPlayer(fixture).actor.mints(nft) : owner.actor.burns(nft));
  return owner === undefined ? "minted" : "burned";
};

export const switchesApproval: Move = async (fixture) => {
  const { random } = fixture;
  const { actor } = drawPlayer(fixture);
  const contract = random.pick(traded);
  const approves = random.below(2) === 0;
  await (approves ? actor.approves(contract) : actor.revokes(contract));
  return approves ? "approved" : "revoked";
};

export const movesWrapped: Move = async (fixture) => {
  const { random } = fixture;
  const player = drawPlayer(fixture);
  const heldWei = await wrappedOf(fixture, player);
  const wei = random.between(0n, heldWei);
  switch (random.below(3)) {
    case 0:
      await player.actor.wraps(random.between(1n, 5n) * 10n ** 17n);
      return "wrapped";
    case 1:
      await player.actor.unwraps(random.below(3) === 0 ? heldWei : wei);
      return "unwrapped";
    default:
      await player.actor.sendsWrapped(
        random.below(6) === 0 ? player : drawOther(fixture, player),
        wei,
      );
      return "sent";
  }
};

export const changesAllowance: Move = async (fixture) => {
  const { random } = fixture;
  const wei = random.pick([0n, maxUint256, random.between(1n, 90n) * 10n ** 16n]);
  await drawPlayer(fixture).actor.allows(wei);
  return wei === 0n ? "revoked" : "allowed";
};

export const cancels: Move = async (fixture) => {
  const order = drawFrom(fixture, fixture.orders);
  const maker = order && playerOf(fixture, order.components.offerer);
  if (order === undefined || maker === undefined) return undefined;
  const { transactionHash: txHash } = await maker.actor.cancels(order);
  if (fixture.random.below(2) === 0) return "cancelled";
  return syncs(fixture, order, maker.trader, { txHash });
};

async function syncs(
  { chainId }: Fixture,
  { side, id }: Fixture["orders"][number],
  { post }: ReturnType<typeof wallet>["trader"],
  more: { txHash?: string } = {},
): Promise<string> {
  const kind = side === "listings" ? "asks" : "bids";
  const { status } = await post(`/v1/orders/${kind}/${id}/sync`, { chainId, ...more });
  return `synced ${status}`;
}

export const syncsOrder: Move = async (fixture) => {
  const order = drawFrom(fixture, fixture.orders);
  return order && syncs(fixture, order, wallet(fixture).trader);
};

export const incrementsCounter: Move = async (fixture) => {
  await drawPlayer(fixture).actor.incrementsCounter();
  return "incremented";
};

export const validates: Move = async (fixture) => {
  const order = drawFrom(fixture, fixture.orders);
  if (order === undefined) return undefined;
  await drawPlayer(fixture).actor.validates(order);
  return "validated";
};

/** The chain emits no event for it. */
export const switchesValidator: Move = async (fixture) => {
  const { client } = fixture.marketContext;
  const conduit = commonConduit.address;
  const validator = { address: contracts.validator, abi: fixtureAbi } as const;
  const isBlocked = await client.readContract({
    ...validator,
    functionName: "isBlocked",
    args: [conduit],
  });
  const data = encodeFunctionData({
    abi: fixtureAbi,
    functionName: "setBlocked",
    args: [conduit, !isBlocked],
  });
  await fixture.marketContext.sending.send(accounts.erin, { to: contracts.validator, data });
  return isBlocked ? "opened" : "closed";
};

/** The chain emits no event for it. */
export const changesWallet: Move = async (fixture) => {
  const to = fixture.walletOwner === "alice" ? "bob" : "alice";
  await changeWalletOwner(
    fixture.marketContext,
    accounts[fixture.walletOwner].address,
    accounts[to].address,
  );
  fixture.walletOwner = to;
  await fixture.marketContext.client.mine({ blocks: 1 });
  return `${to}'s`;
};

/** Closes or reopens the conduit's channel for the exchange. */
export const switchesChannel: Move = async (fixture) => {
  // Closing reverts when the channel is closed already.
  return setChannel(fixture, false).then(
    () => "closed",
    () => setChannel(fixture, true).then(() => "opened"),
  );
};

function setChannel({ marketContext }: Fixture, isOpen: boolean) {
  const data = encodeFunctionData({
    abi: fixtureAbi,
    functionName: "updateChannel",
    args: [commonConduit.address, seaportAddresses["1.6"], isOpen],
  });
  return marketContext.sending.send(accounts.deployer, { to: conduitController, data });
}

/** Sets the time forward, on the chain and in this process. */
export const advancesTime: Move = async (fixture) => {
  const seconds = 60 + fixture.random.below(300);
  fixture.clock.advance(seconds);
  await fixture.marketContext.client.increaseTime({ seconds });
  await fixture.marketContext.client.mine({ blocks: 1 });
  return `${seconds} s`;
};

/** Funds every player, renews approvals and opens the channel, so that trading can continue. */
export const resetsApprovals: Move = async (fixture) => {
  for (const { actor } of allPlayers(fixture)) {
    await actor.wraps(10n ** 18n);
    await actor.allows(4n * 10n ** 18n);
    for (const contract of traded) await actor.approves(contract);
  }
  await setChannel(fixture, true).catch(() => undefined);
  return "reset";
};
