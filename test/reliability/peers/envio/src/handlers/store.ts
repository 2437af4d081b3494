import { Erc721, Exchange } from "../../generated/index.js";

Erc721.Transfer.handler(
  async ({ event, context }) => {
    const { from, to, tokenId } = event.params;
    const { number, hash } = event.block;
    context.Transfer.set({
      ...{ id: `${hash}-${event.logIndex}`, number, hash, logIndex: event.logIndex },
      ...{ tokenId, from, to },
    });
    context.Token.set({ id: `${tokenId}`, owner: to, number });
  },
  { wildcard: true },
);

Exchange.CounterIncremented.handler(async ({ event, context }) => {
  const { number, hash } = event.block;
  context.Counter.set({
    ...{ id: `${hash}-${event.logIndex}`, number, hash, logIndex: event.logIndex },
  });
});

Exchange.OrderFulfilled.handler(async ({ event, context }) => {
  const { offerer, recipient, offer, consideration } = event.params;
  const { hash } = event.block;
  context.Sale.set({
    ...{ id: `${hash}-${event.logIndex}`, hash, tokenId: offer[0]?.[2] ?? 0n },
    price: consideration.reduce((sum, item) => sum + item[3], 0n),
    ...{ seller: offerer, buyer: recipient },
  });
});
