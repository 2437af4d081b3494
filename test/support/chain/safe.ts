import { createRequire } from "node:module";
import { type Abi, type Address, encodeFunctionData, type Hex, parseAbi, zeroAddress } from "viem";
import { accounts } from "#devnet/accounts.ts";
import type { DevnetClient } from "#devnet/client.ts";

const require = createRequire(import.meta.url);
const artifacts = "@safe-global/safe-smart-account/build/artifacts/contracts";
const setupAbi = parseAbi([
  "function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)",
]);
const factoryAbi = parseAbi([
  "function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce) returns (address proxy)",
]);

/** Deploys one of the Safe's contracts. */
export async function deploySafePart(client: DevnetClient, path: string): Promise<Address> {
  const { bytecode } = require(`${artifacts}/${path}.json`) as { bytecode: Hex };
  const account = accounts.deployer;
  const sending = { account, abi: [] as Abi, bytecode, chain: client.chain };
  const hash = await client.deployContract(sending);
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error(`${path} was not deployed`);
  return contractAddress;
}

/** A Safe 1.5.0 as it is published, with the handler that answers for signatures (EIP-1271); needs `threshold` owners. */
export async function deploySafe(
  client: DevnetClient,
  owners: readonly Address[],
  threshold: number,
): Promise<Address> {
  const account = accounts.deployer;
  const deploy = (path: string) => deploySafePart(client, path);
  const singleton = await deploy("Safe.sol/Safe");
  const factory = await deploy("proxies/SafeProxyFactory.sol/SafeProxyFactory");
  const handler = await deploy(
    "handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler",
  );
  const threshold256 = BigInt(threshold);
  const initializer = encodeFunctionData({
    abi: setupAbi,
    functionName: "setup",
    args: [owners, threshold256, zeroAddress, "0x", handler, zeroAddress, 0n, zeroAddress],
  });
  const { request, result } = await client.simulateContract({
    ...{ account, chain: client.chain, address: factory, abi: factoryAbi },
    ...{ functionName: "createProxyWithNonce", args: [singleton, initializer, 0n] },
  });
  await client.waitForTransactionReceipt({ hash: await client.writeContract(request) });
  return result;
}
