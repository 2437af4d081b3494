import type { PlacedFact } from "#projections/log/facts.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { table } from "#api/pages/kit/panel.ts";
import { shortHex, shortId } from "#api/pages/kit/text.ts";
import { kindNameOf } from "#api/run/inspection/present-fact.ts";

type Options = {
  caption: string;
  /** Whether a fact is effective, where it is known. */
  stateOf?: (fact: PlacedFact) => Html | string;
};

/** Facts, a row each, with a way to the life of each. */
export function factTable(facts: readonly PlacedFact[], { caption, stateOf }: Options): Html {
  return table(
    facts,
    [
      {
        head: "Position",
        cell: ({ position }) =>
          html`<a href="/log/${position.toString()}">${position.toString()}</a>`,
        isHead: true,
      },
      { head: "Kind", cell: ({ kind }) => kindNameOf(kind) },
      ...(stateOf === undefined ? [] : [{ head: "State", cell: stateOf }]),
      { head: "Chain", cell: ({ chainId }) => chainId ?? "none" },
      { head: "Block or time", cell: (fact) => placeOf(fact) },
      { head: "Contract", cell: ({ contract }) => hex(contract) },
      {
        head: "Token",
        cell: ({ tokenId }) =>
          tokenId === null
            ? ""
            : html`<span title="${tokenId.toString()}">${shortId(tokenId.toString())}</span>`,
      },
      {
        head: "Amount",
        cell: ({ amount }) =>
          amount === null
            ? ""
            : html`<span title="${amount.toString()}">${shortId(amount.toString())}</span>`,
        isNumber: true,
      },
      { head: "From", cell: ({ from }) => hex(from) },
      { head: "To", cell: ({ to }) => hex(to) },
      { head: "Order", cell: ({ orderHash }) => hex(orderHash) },
    ],
    { caption, keyOf: ({ position }) => position.toString() },
  );
}

function placeOf({ block, logIndex, recordedAt }: PlacedFact): Html | string {
  if (block !== null) return `${block.number}${logIndex === null ? "" : `, log ${logIndex}`}`;
  return recordedAt === null ? "" : recordedAt.toISOString().slice(0, 19).replace("T", " ");
}

const hex = (text: string | null): Html | string =>
  text === null ? "" : html`<code title="${text}">${shortHex(text)}</code>`;
