// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

interface INft {
    function transferFrom(address from, address to, uint256 id) external;
}

interface IPool {
    function transferFrom(address from, address to, uint256 wei_) external returns (bool);
}

/// Emits what Blur's second exchange does. Orders are posted to the contract in place of being signed.
contract BlurExchange {
    /// Blur's pool of ether, whose coins pay for bids.
    IPool private constant POOL = IPool(0x0000000000A39bb272e79075ade125fd351887Ac);

    struct Order {
        address maker;
        address collection;
        uint256 tokenId;
        uint256 price;
        bool isBid;
    }

    mapping(bytes32 => Order) private orders;
    uint256 private count;

    event Execution721Packed(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide);

    function post(address collection, uint256 tokenId, uint256 price, bool isBid) external returns (bytes32 hash) {
        count++;
        hash = keccak256(abi.encode(address(this), count));
        orders[hash] = Order(msg.sender, collection, tokenId, price, isBid);
    }

    /// Hash of the order that the next `post` makes.
    function nextHash() external view returns (bytes32) {
        return keccak256(abi.encode(address(this), count + 1));
    }

    /// Buys what is listed, for ether, or sells into a bid, for the pool's coins.
    function take(bytes32 hash) external payable {
        Order memory order = orders[hash];
        require(order.maker != address(0) && msg.value == (order.isBid ? 0 : order.price));
        delete orders[hash];
        INft nft = INft(order.collection);
        if (order.isBid) {
            POOL.transferFrom(order.maker, msg.sender, order.price);
            nft.transferFrom(msg.sender, order.maker, order.tokenId);
        } else {
            nft.transferFrom(order.maker, msg.sender, order.tokenId);
            (bool paid,) = order.maker.call{value: msg.value}("");
            require(paid);
        }
        emit Execution721Packed(
            hash,
            (order.tokenId << 168) | uint160(order.maker),
            (uint256(order.isBid ? 1 : 0) << 248) | (order.price << 160) | uint160(order.collection)
        );
    }
}

/// Creates pools, as the factory of Sudoswap's second version does.
contract SudoswapFactory {
    address public lastPool;

    event NewERC721Pair(address indexed pool, uint256[] initialIds);

    function createPair(address collection, uint256 price) external returns (address) {
        lastPool = address(new SudoswapPool(collection, price));
        emit NewERC721Pair(lastPool, new uint256[](0));
        return lastPool;
    }
}

/// Sells the tokens that it has for one price, and buys for nine tenths of it. Its events name neither party.
contract SudoswapPool {
    INft public immutable nft;
    uint256 public immutable price;

    event SwapNFTInPair(uint256 amountOut, uint256[] ids);
    event SwapNFTOutPair(uint256 amountIn, uint256[] ids);

    constructor(address collection, uint256 price_) {
        nft = INft(collection);
        price = price_;
    }

    receive() external payable {}

    /// Of tokens of ERC-721, for ether.
    function pairVariant() external pure returns (uint8) {
        return 0;
    }

    function swapTokenForSpecificNFTs(uint256[] calldata ids) external payable {
        require(msg.value == price * ids.length);
        for (uint256 i; i < ids.length; i++) nft.transferFrom(address(this), msg.sender, ids[i]);
        emit SwapNFTOutPair(msg.value, ids);
    }

    function swapNFTsForToken(uint256[] calldata ids) external {
        uint256 amount = (price * ids.length * 9) / 10;
        for (uint256 i; i < ids.length; i++) nft.transferFrom(msg.sender, address(this), ids[i]);
        (bool paid,) = msg.sender.call{value: amount}("");
        require(paid);
        emit SwapNFTInPair(amount, ids);
    }
}
