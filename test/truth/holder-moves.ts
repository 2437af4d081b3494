import { encodeFunctionData, maxUint256, parseAbi } from "viem";
import { commonConduit, conduitController, seaport } from "../../abis/deployments.ts";
import { accounts } from "../../devnet/accounts.ts";
import { contracts } from "../../devnet/contracts/addresses.ts";
import type { Move } from "./move.ts";
import { changeWalletOwner } from "./players.ts";
import { everybody, type Stage, wallet } from "./stage.ts";
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

export const transfersToken: Move = async (stage) => {
  const found = await drawOwned(stage);
  if (found === undefined) return undefined;
  // Now and then to oneself.
  const to = stage.random.below(10) === 0 ? found.owner : drawOther(stage, found.owner);
  await found.owner.actor.transfers(found.nft, to);
  return "moved";
};

export const transfersEdition: Move = async (stage) => {
  const found = await drawHeld(stage);
  if (found === undefined) return undefined;
  const { owner, nft, units } = found;
  const to = stage.random.below(10) === 0 ? owner : drawOther(stage, owner);
  await owner.actor.transfers(nft, to, 1n + BigInt(stage.random.below(Number(units))));
  return "moved";
};

/** A token is burnt, or one that nobody has is minted again. */
export const burnsOrMints: Move = async (stage) => {
  const nft = drawFrom(stage, [...stage.tokens, ...stage.editions]);
  if (nft === undefined) return undefined;
  if (nft.standard === "erc1155") {
    await drawPlayer(stage).actor.mints(nft, 3n);
    return "minted";
  }
  const owner = await ownerOf(stage, nft);
  await (owner === undefined ? drawPlayer(stage).actor.mints(nft) : owner.actor.burns(nft));
  return owner === undefined ? "minted" : "burnt";
};

export const switchesApproval: Move = async (stage) => {
  const { random } = stage;
  const { actor } = drawPlayer(stage);
  const contract = random.pick(traded);
  const approves = random.below(2) === 0;
  await (approves ? actor.approves(contract) : actor.revokes(contract));
  return approves ? "approved" : "revoked";
};

export const movesWrapped: Move = async (stage) => {
  const { random } = stage;
  const player = drawPlayer(stage);
  const heldWei = await wrappedOf(stage, player);
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
        random.below(6) === 0 ? player : drawOther(stage, player),
        wei,
      );
      return "sent";
  }
};

export const changesAllowance: Move = async (stage) => {
  const { random } = stage;
  const wei = random.pick([0n, maxUint256, random.between(1n, 90n) * 10n ** 16n]);
  await drawPlayer(stage).actor.allows(wei);
  return wei === 0n ? "taken back" : "allowed";
};

export const cancels: Move = async (stage) => {
  const order = drawFrom(stage, stage.orders);
  const maker = order && playerOf(stage, order.components.offerer);
  if (order === undefined || maker === undefined) return undefined;
  const { transactionHash: txHash } = await maker.actor.cancels(order);
  if (stage.random.below(2) === 0) return "cancelled";
  return syncs(stage, order, maker.trader, { txHash });
};

async function syncs(
  { chainId }: Stage,
  { side, id }: Stage["orders"][number],
  { post }: ReturnType<typeof wallet>["trader"],
  more: { txHash?: string } = {},
): Promise<string> {
  const kind = side === "listings" ? "asks" : "bids";
  const { status } = await post(`/v1/orders/${kind}/${id}/sync`, { chainId, ...more });
  return `synced ${status}`;
}

export const syncsOrder: Move = async (stage) => {
  const order = drawFrom(stage, stage.orders);
  return order && syncs(stage, order, wallet(stage).trader);
};

export const incrementsCounter: Move = async (stage) => {
  await drawPlayer(stage).actor.incrementsCounter();
  return "incremented";
};

export const validates: Move = async (stage) => {
  const order = drawFrom(stage, stage.orders);
  if (order === undefined) return undefined;
  await drawPlayer(stage).actor.validates(order);
  return "validated";
};

/** No event tells of it. */
export const switchesValidator: Move = async (stage) => {
  const { client } = stage.venue;
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
  await stage.venue.sending.send(accounts.erin, { to: contracts.validator, data });
  return isBlocked ? "opened" : "closed";
};

/** No event tells of it. */
export const changesWallet: Move = async (stage) => {
  const to = stage.walletOwner === "alice" ? "bob" : "alice";
  await changeWalletOwner(stage.venue, accounts[stage.walletOwner].address, accounts[to].address);
  stage.walletOwner = to;
  await stage.venue.client.mine({ blocks: 1 });
  return `${to}'s`;
};

/** The conduit is closed to the exchange, or opened again. */
export const switchesChannel: Move = async (stage) => {
  // It would revert where the channel is in that state already.
  return setChannel(stage, false).then(
    () => "closed",
    () => setChannel(stage, true).then(() => "opened"),
  );
};

function setChannel({ venue }: Stage, isOpen: boolean) {
  const data = encodeFunctionData({
    abi: fixtureAbi,
    functionName: "updateChannel",
    args: [commonConduit.address, seaport["1.6"], isOpen],
  });
  return venue.sending.send(accounts.deployer, { to: conduitController, data });
}

/** Time passes at once, on the chain and here. */
export const letsTimePass: Move = async (stage) => {
  const seconds = 60 + stage.random.below(300);
  stage.clock.jumps(seconds);
  await stage.venue.client.increaseTime({ seconds });
  await stage.venue.client.mine({ blocks: 1 });
  return `${seconds} s`;
};

/** Everybody gets money and approves again, and the conduit is open: else the market would come to a stand. */
export const startsAnew: Move = async (stage) => {
  for (const { actor } of everybody(stage)) {
    await actor.wraps(10n ** 18n);
    await actor.allows(4n * 10n ** 18n);
    for (const contract of traded) await actor.approves(contract);
  }
  await setChannel(stage, true).catch(() => undefined);
  return "started";
};
