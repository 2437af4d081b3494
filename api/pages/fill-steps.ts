import { seaportSignatures, seaportStructs } from "#abis/seaport.ts";
import type { ChainId } from "#chains/index.ts";
import { type Html, html } from "./kit/html.ts";
import { panel } from "./kit/panel.ts";
import { marketplaceName } from "./kit/text.ts";

/** A word in single quotes for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const post = (path: string, body: Readonly<Record<string, unknown>>): string =>
  `curl -X POST "$API${path}" \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(body))}`;

/** Commands and what each gives. `$API` is this page's own address. */
function steps(
  id: string,
  title: string,
  all: readonly (readonly [text: string | Html, command?: string])[],
): Html {
  return panel({
    id,
    title,
    about: html`<code>$API</code> is the address of this site.`,
    body: html`<ol class="steps">${all.map(([text, command]) => html`<li><p>${text}</p>${command !== undefined && html`<pre tabindex="0"><code>${command}</code></pre>`}</li>`)}</ol>`,
  });
}

type Buy = {
  readonly chainId: ChainId;
  readonly askId: string;
  readonly isBuyable: boolean;
  readonly marketplace: string;
};

export function buySteps({ chainId, askId, isBuyable, marketplace }: Buy): Html {
  if (!isBuyable) {
    return panel({
      id: "fill",
      title: "How to buy it",
      body: html`<p>It cannot be bought through this API now.${marketplace !== "native" && ` It was seen at ${marketplaceName(marketplace)}.`} Its state is checked with every block.</p>`,
    });
  }
  const path = `/v1/listings/${encodeURIComponent(askId)}`;
  return steps("fill", "How to buy it", [
    [
      "Ask for the transaction that fills exactly this listing, for your address.",
      post(`${path}/buy-data`, { chainId, buyer: "0xYourAddress" }),
    ],
    [
      "Send it as it is, to the contract, with the data and the value of the answer. Then see the listing filled.",
      `curl "$API${path}?chainId=${chainId}"`,
    ],
    ["Both in TypeScript, with a wallet client of viem.", buyWithViem(path, chainId)],
  ]);
}

const buyWithViem = (path: string, chainId: ChainId): string =>
  `const response = await fetch(API + ${JSON.stringify(`${path}/buy-data`)}, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ chainId: ${chainId}, buyer: wallet.account.address }),
});
const { data: call } = await response.json();
await wallet.sendTransaction({ to: call.to, data: call.data, value: BigInt(call.value) });`;

type Accept = {
  readonly chainId: ChainId;
  readonly bidId: string;
  readonly isActive: boolean;
  /** Of a bid on a collection: which token is sold. */
  readonly needsToken: boolean;
};

export function acceptSteps({ chainId, bidId, isActive, needsToken }: Accept): Html {
  if (!isActive) {
    return panel({
      id: "fill",
      title: "How to accept it",
      body: html`<p>It cannot be accepted now. Its state is checked with every block.</p>`,
    });
  }
  const path = `/v1/bids/${encodeURIComponent(bidId)}`;
  const token = needsToken ? { tokenId: "1" } : {};
  const body = { chainId, fulfiller: "0xYourAddress", ...token };
  return steps("fill", "How to accept it", [
    [
      html`Ask for the call that sells your token to this offer${needsToken && html`, with the token's id`}. The answer names the contract, the method and its arguments.`,
      post(`${path}/accept-data`, body),
    ],
    [
      html`Unless <code>approval.isApproved</code> is true, let <code>approval.operator</code> move your tokens first: call <code>setApprovalForAll</code> of the contract <code>approval.token</code> with it and true.`,
    ],
    [
      html`Call the <code>method</code> of the contract <code>to</code> with the arguments as they are, from the same address and before <code>validUntil</code>. Then see the offer filled.`,
      `curl "$API${path}?chainId=${chainId}"`,
    ],
    [
      "All of it in TypeScript, with a wallet client of viem.",
      acceptWithViem({ path: `${path}/accept-data`, chainId, ...token }),
    ],
  ]);
}

export function cancelSteps(side: "asks" | "bids", chainId: ChainId, id: string): Html {
  const path = `/v1/orders/${side}/${encodeURIComponent(id)}`;
  return steps("cancel", "How its maker ends it", [
    [
      "Ask for the order as it was signed, and call the function cancel of the exchange with it from the maker's address.",
      `curl "$API${path}/components?chainId=${chainId}"`,
    ],
    ["Have its state read again from the chain.", post(`${path}/sync`, { chainId })],
  ]);
}

type Acceptance = {
  readonly path: string;
  readonly chainId: ChainId;
  /** Of a bid on a collection: the token that is sold. */
  readonly tokenId?: string;
};

/** A program that accepts a bid: the answer has the call's arguments, and a wallet encodes them. */
function acceptWithViem({ path, chainId, tokenId }: Acceptance): string {
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
