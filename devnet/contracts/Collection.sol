// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";
import {Metadata} from "./Metadata.sol";

/// An ERC-721 that anyone may mint, with a royalty of 5 % (ERC-2981).
contract Collection is ERC721Burnable, ERC2981 {
    constructor(string memory name, string memory symbol, address royaltyRecipient) ERC721(name, symbol) {
        _setDefaultRoyalty(royaltyRecipient, 500);
    }

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }

    function mintBatch(address to, uint256 fromId, uint256 count) external {
        for (uint256 id = fromId; id < fromId + count; id++) _mint(to, id);
    }

    function tokenURI(uint256 id) public view override returns (string memory) {
        _requireOwned(id);
        return Metadata.ofToken(name(), id);
    }

    /// ERC-7572
    function contractURI() external view returns (string memory) {
        return Metadata.ofCollection(name());
    }

    function supportsInterface(bytes4 id) public view override(ERC721, ERC2981) returns (bool) {
        return ERC721.supportsInterface(id) || ERC2981.supportsInterface(id);
    }
}
