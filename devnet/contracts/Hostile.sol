// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// Contracts of hostile strangers: each shows one trick that an indexer must survive. None keeps a token.

/// What makes the indexer aware of a contract: transfers, whatever they say.
abstract contract Stranger {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

    /// Mints in events only.
    function announce(address to, uint256 fromId, uint256 count) public {
        for (uint256 i; i < count; i++) emit Transfer(address(0), to, fromId + i);
    }

    function supportsInterface(bytes4 id) public pure virtual returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd || id == 0x5b5e139f;
    }
}

/// An honest answer to all questions about ownership and approval, so that only the trick matters.
abstract contract PlausibleStranger is Stranger {
    function name() public pure virtual returns (string memory) { return "Stranger"; }
    function symbol() public pure virtual returns (string memory) { return "STR"; }
    function ownerOf(uint256) public view virtual returns (address) { return msg.sender; }
    function isApprovedForAll(address, address) public pure returns (bool) { return true; }
    function getApproved(uint256) public pure returns (address) { return address(0); }
    function balanceOf(address) public pure returns (uint256) { return 1; }
    function tokenURI(uint256) public view virtual returns (string memory) { return ""; }
}

/// ERC-2309 ranges without end, for about 2,800 gas each.
contract RangeFlood is PlausibleStranger {
    event ConsecutiveTransfer(uint256 indexed fromTokenId, uint256 toTokenId, address indexed from, address indexed to);

    uint256 private next;

    function mintRanges(address to, uint256 ranges, uint256 size) external {
        uint256 start = next;
        for (uint256 i; i < ranges; i++) {
            emit ConsecutiveTransfer(start, start + size - 1, address(0), to);
            start += size;
        }
        next = start;
    }
}

/// A token URI of 2.6 MB.
contract LargeUri is PlausibleStranger {
    function tokenURI(uint256) public pure override returns (string memory) {
        return string(new bytes(2_600_000));
    }
}

/// A token URI that is computed until the gas ends.
contract EndlessUri is PlausibleStranger {
    function tokenURI(uint256 id) public pure override returns (string memory) {
        while (true) id = uint256(keccak256(abi.encode(id)));
        return "";
    }
}

/// Every question burns all gas.
contract GasBurner is Stranger {
    fallback() external {
        uint256 word;
        while (true) word = uint256(keccak256(abi.encode(word)));
    }
}

/// Every question is answered with 1 MB.
contract ReturnBomb is Stranger {
    fallback() external {
        assembly { return(0, 1000000) }
    }
}

/// Every question reverts with 1 MB.
contract RevertBomb is Stranger {
    fallback() external {
        assembly { revert(0, 1000000) }
    }
}

/// Names another owner by the gas that is left.
contract LiarByGas is PlausibleStranger {
    function ownerOf(uint256) public view override returns (address) {
        return address(uint160(gasleft()));
    }
}

/// Calls everyone an owner who asks about itself: the fallback of PlausibleStranger.
contract LiarByCaller is PlausibleStranger {}

/// Its events move a token again and again, while its state never changes; also from who never had it.
contract EventLiar is PlausibleStranger {
    function ownerOf(uint256) public pure override returns (address) { return address(0xdead); }

    function lie(uint256 id, uint256 times) external {
        for (uint256 i = 1; i <= times; i++) {
            emit Transfer(address(uint160(i + 7)), address(uint160(i)), id);
            emit Transfer(address(uint160(i)), address(0), id);
        }
    }
}

/// Transfers call it again before they end, so that events of one token are nested.
contract Reentering is PlausibleStranger {
    function transferFrom(address from, address to, uint256 id) public {
        if (id % 16 != 15) this.transferFrom(to, from, id + 1);
        emit Transfer(from, to, id);
    }
}

/// An ERC-1967 proxy that anybody changes.
contract ChangingProxy {
    event Upgraded(address indexed implementation);

    bytes32 private constant slot = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    function upgradeTo(address implementation) external {
        assembly { sstore(slot, implementation) }
        emit Upgraded(implementation);
    }

    fallback() external {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(slot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch done
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}

/// Each token has a hundred traits whose values no other token has.
contract EndlessTraits is PlausibleStranger {
    function tokenURI(uint256 id) public pure override returns (string memory) {
        string memory traits = "";
        for (uint256 i; i < 100; i++) {
            traits = string.concat(
                traits, i == 0 ? "" : ",", '{"trait_type":"', Strings.toString(i), '","value":"',
                Strings.toString(uint256(keccak256(abi.encode(id, i)))), '"}'
            );
        }
        return string.concat('data:application/json;utf8,{"name":"Endless","attributes":[', traits, "]}");
    }
}

/// Emits one transfer and is gone from everybody's mind: its code is one STOP.
contract Fledgling {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

    constructor(address to) {
        emit Transfer(address(0), to, 1);
        assembly { return(0, 1) }
    }
}

/// Makes many contracts in one transaction.
contract Nursery {
    function hatch(address to, uint256 count) external {
        for (uint256 i; i < count; i++) new Fledgling(to);
    }
}
