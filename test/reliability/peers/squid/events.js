import { event, indexed } from "@subsquid/evm-abi";
import * as codec from "@subsquid/evm-codec";

export const transfer = event(
  "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  "Transfer(address,address,uint256)",
  {
    from: indexed(codec.address),
    to: indexed(codec.address),
    tokenId: indexed(codec.uint256),
  },
);

export const counterIncremented = event(
  "0x721c20121297512b72821b97f5326877ea8ecf4bb9948fea5bfcb6453074d37f",
  "CounterIncremented(uint256,address)",
  { newCounter: codec.uint256, offerer: indexed(codec.address) },
);

const spentItem = {
  itemType: codec.uint8,
  token: codec.address,
  identifier: codec.uint256,
  amount: codec.uint256,
};

export const orderFulfilled = event(
  "0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31",
  "OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],(uint8,address,uint256,uint256,address)[])",
  {
    orderHash: codec.bytes32,
    offerer: indexed(codec.address),
    zone: indexed(codec.address),
    recipient: codec.address,
    offer: codec.array(codec.struct(spentItem)),
    consideration: codec.array(codec.struct({ ...spentItem, recipient: codec.address })),
  },
);
