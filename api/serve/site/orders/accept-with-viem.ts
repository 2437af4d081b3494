import { seaportSignatures, seaportStructs } from "#abis/seaport.ts";
import type { ChainId } from "#chains/index.ts";

type Acceptance = {
  readonly path: string;
  readonly chainId: ChainId;
  /** Of a bid on a collection: the token that is sold. */
  readonly tokenId?: string;
};

/** A program that accepts a bid: the answer has the call's arguments, and a wallet encodes them. */
export function acceptWithViem({ path, chainId, tokenId }: Acceptance): string {
  const method =
    tokenId === undefined ? "fulfillBasicOrder_efficient_6GL6yc" : "matchAdvancedOrders";
  const sold = tokenId === undefined ? "" : `, tokenId: ${JSON.stringify(tokenId)}`;
  return `import { parseAbi, publicActions } from "viem";

const response = await fetch(API + ${JSON.stringify(path)}, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ chainId: ${chainId}, fulfiller: wallet.account.address${sold} }),
});
const { data: call } = await response.json();
const { operator, token, isApproved } = call.approval;
if (isApproved !== true) {
  const hash = await wallet.writeContract({
    address: token,
    abi: parseAbi(["function setApprovalForAll(address operator, bool approved)"]),
    functionName: "setApprovalForAll",
    args: [operator, true],
  });
  await wallet.extend(publicActions).waitForTransactionReceipt({ hash });
}
await wallet.writeContract({
  address: call.to,
  abi: parseAbi([
${abiTextsOf(method)
  .map((text) => `    ${JSON.stringify(text)},\n`)
  .join("")}  ]),
  functionName: "${method}",
  args: [${argumentsOf[method]}],
});`;
}

const argumentsOf = {
  fulfillBasicOrder_efficient_6GL6yc: "call.basicOrderParameters",
  matchAdvancedOrders: "call.orders, call.criteriaResolvers, call.fulfillments, call.recipient",
};

/** A function of the exchange and the structs that it needs, in the words of the contract. */
function abiTextsOf(method: keyof typeof argumentsOf): string[] {
  const needed: string[] = seaportSignatures.filter((one) => one.startsWith(`function ${method}(`));
  for (const text of needed) {
    const named = seaportStructs.filter((one) => {
      const [, name = ""] = one.split(" ");
      return new RegExp(`\\b${name}\\b`).test(text) && !needed.includes(one);
    });
    needed.push(...named);
  }
  return needed;
}
