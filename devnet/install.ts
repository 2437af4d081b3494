import {
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  isAddressEqual,
  keccak256,
  pad,
  parseAbi,
  slice,
} from "viem";
import { blurAddresses } from "../abis/blur.ts";
import {
  commonConduit,
  conduitController,
  multicall3,
  seaportAddresses,
} from "../abis/deployments.ts";
import { sudoswapFactories } from "../abis/sudoswap.ts";
import { type ChainId, chainById, ensChain } from "../chains/index.ts";
import { accounts } from "./accounts.ts";
import type { DevnetClient } from "./client.ts";
import { contracts, signedZone } from "./contracts/addresses.ts";
import { type OwnName, readArtifact } from "./contracts/artifacts.ts";
import { create, hasCode, place, send, sendAs } from "./deploy.ts";
import { installEns } from "./ens.ts";
import { hasOtherExchanges } from "./market/other-exchanges.ts";

/** Everything a market needs, at the same addresses on every chain. Does nothing where it has been done. */
export async function installContracts(client: DevnetClient): Promise<void> {
  await installExchange(client);
  await installTokens(client);
  if (client.chain.id === ensChain.id) await installEns(client);
}

const controllerAbi = parseAbi([
  "function createConduit(bytes32 conduitKey, address initialOwner) returns (address)",
  "function updateChannel(address conduit, address channel, bool isOpen)",
  "function getChannelStatus(address conduit, address channel) view returns (bool isOpen)",
]);

/** How Seaport 1.6 came to its address on every chain: a keyless CREATE2 factory and this salt. */
const factory = "0x0000000000ffe8b47b3e2130213b802212439497";
const salt: Hex = "0x0000000000000000000000000000000000000000d738b7f0bb99901b1c83f249";
const creationCodeHash: Hex = "0xde057106c8377de87f4547af6ef65fa2c96fddbc136be5748060ed7c32902d94";

/** The proxy every anvil is born with; its code is the factory's. */
const predeployedFactory = "0x4e59b44847b379578588920ca78fbf26c0b4956c";

/** keccak256 of the creation code of the conduits on the real chains, from which their addresses follow. */
const realConduitCodeHash: Hex =
  "0x023d904f2503c37127200ca07b976c3a53cc562623f67023115bf311f5805059";

/** The conduit controller, the common conduit and Seaport 1.6, the channel between them open. */
async function installExchange(client: DevnetClient): Promise<void> {
  if (!(await hasCode(client, conduitController))) await placeController(client);
  if (!(await hasCode(client, commonConduit.address))) await createConduit(client);
  if (!(await hasCode(client, seaportAddresses["1.6"]))) await createSeaport(client);
  await openChannel(client);
}

/**
 * Runs the constructor in place, then gives the controller the conduit code hash of the real chains:
 * theirs was compiled from older sources, and with its hash the same keys lead to the same conduits.
 */
async function placeController(client: DevnetClient): Promise<void> {
  const address = conduitController;
  await client.setCode({ address, bytecode: readArtifact("ConduitController").bytecode });
  const { data: runtime } = await client.call({ to: address });
  const compiledHash = keccak256(readArtifact("Conduit").bytecode).slice(2);
  if (!runtime?.includes(compiledHash))
    throw new Error("The conduit controller does not hold the hash of the compiled conduit");
  const bytecode = runtime.replaceAll(compiledHash, realConduitCodeHash.slice(2)) as Hex;
  await client.setCode({ address, bytecode });
}

/** The conduit is deployed by its compiled code, then copied to the address of the real one. */
async function createConduit(client: DevnetClient): Promise<void> {
  const { key, address } = commonConduit;
  const at = (bytecodeHash: Hex) =>
    getContractAddress({ opcode: "CREATE2", from: conduitController, salt: key, bytecodeHash });
  if (!isAddressEqual(at(realConduitCodeHash), address))
    throw new Error("The conduit's key does not lead to its address");
  await sendAs(client, {
    from: slice(key, 0, 20),
    to: conduitController,
    data: encodeFunctionData({
      abi: controllerAbi,
      functionName: "createConduit",
      args: [key, accounts.deployer.address],
    }),
  });
  const born = at(keccak256(readArtifact("Conduit").bytecode));
  const bytecode = await client.getCode({ address: born });
  if (bytecode === undefined) throw new Error(`No conduit was born at ${born}`);
  await client.setCode({ address, bytecode });
}

/** Replays the creation; the code proves itself by its hash and by the address it leads to. */
async function createSeaport(client: DevnetClient): Promise<void> {
  const constructorArgument = encodeAbiParameters([{ type: "address" }], [conduitController]);
  const bytecode = concat([readArtifact("Seaport").bytecode, constructorArgument]);
  const address = getContractAddress({ opcode: "CREATE2", from: factory, salt, bytecode });
  if (keccak256(bytecode) !== creationCodeHash || !isAddressEqual(address, seaportAddresses["1.6"]))
    throw new Error(`The artifact is not Seaport 1.6: it leads to ${address}`);
  const factoryCode = await client.getCode({ address: predeployedFactory });
  if (factoryCode === undefined) throw new Error("This anvil is born without its CREATE2 factory");
  await client.setCode({ address: factory, bytecode: factoryCode });
  const from = accounts.deployer.address;
  await send(client, { from, to: factory, data: concat([pad(salt), bytecode]) });
  if (!(await hasCode(client, seaportAddresses["1.6"]))) throw new Error("Seaport was not created");
}

async function openChannel(client: DevnetClient): Promise<void> {
  const channel = [commonConduit.address, seaportAddresses["1.6"]] as const;
  const isOpen = await client.readContract({
    address: conduitController,
    abi: controllerAbi,
    functionName: "getChannelStatus",
    args: channel,
  });
  if (isOpen) return;
  await send(client, {
    from: accounts.deployer.address,
    to: conduitController,
    data: encodeFunctionData({
      abi: controllerAbi,
      functionName: "updateChannel",
      args: [...channel, true],
    }),
  });
}

const { alice, royaltyRecipient } = accounts;

/** The contract at each fixture address, and the arguments it is created with. */
const fixtures: Record<keyof typeof contracts, readonly [OwnName, readonly unknown[]]> = {
  validator: ["TransferValidator", [commonConduit.address]],
  punks: ["Collection", ["Local Punks", "LPUNK", royaltyRecipient]],
  editions: ["Editions", ["Local Editions", "LEDN", royaltyRecipient]],
  familyOne: ["Collection", ["Local Family", "LFAM1", royaltyRecipient]],
  familyTwo: ["Collection", ["Local Family", "LFAM2", royaltyRecipient]],
  guarded: [
    "GuardedCollection",
    ["Local Guarded", "LGUARD", royaltyRecipient, contracts.validator],
  ],
  burnable: ["Collection", ["Local Burnable", "LBURN", royaltyRecipient]],
  consecutive: ["ConsecutiveCollection", ["Local Consecutive", "LCONS", royaltyRecipient]],
  smartWallet: ["SmartWallet", [alice.address]],
};

/** The fixtures, the wrapped native currency, Multicall3 and the zone of a partner marketplace. */
export async function installTokens(client: DevnetClient): Promise<void> {
  const chainId = client.chain.id as ChainId;
  const { wrapped } = chainById(chainId);
  await place(client, wrapped.address, "WrappedNative");
  await place(client, multicall3, "Multicall3");
  await place(client, signedZone, "SignedZone");
  if (hasOtherExchanges(chainId)) await installOtherExchanges(client);
  for (const [name, [artifactName, args]] of Object.entries(fixtures))
    await create(client, name, artifactName, args);
}

/** Blur with its pool, whose coins are a wrapped currency of their own, and Sudoswap, at their real addresses. */
async function installOtherExchanges(client: DevnetClient): Promise<void> {
  await place(client, blurAddresses.pool, "WrappedNative");
  await place(client, blurAddresses.v2, "BlurExchange");
  await place(client, sudoswapFactories["2"], "SudoswapFactory");
}
