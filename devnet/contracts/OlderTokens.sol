// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

/// What both kinds of tokens older than ERC-721 have: owners, and neither ERC-165's nor a coin's answers.
abstract contract OlderTokens {
    mapping(uint256 => address) public ownerOf;
    mapping(address => uint256) public balanceOf;
    string public name;
    string public symbol;

    constructor(string memory name_, string memory symbol_) {
        name = name_;
        symbol = symbol_;
    }

    function mint(address to, uint256 id) external {
        move(address(0), to, id);
    }

    function transfer(address to, uint256 id) external {
        balanceOf[msg.sender]--;
        move(msg.sender, to, id);
    }

    function tokenURI(uint256) external pure returns (string memory) {
        return 'data:application/json,{"name":"Older"}';
    }

    function move(address from, address to, uint256 id) private {
        ownerOf[id] = to;
        balanceOf[to]++;
        tell(from, to, id);
    }

    function tell(address from, address to, uint256 id) internal virtual;
}

/// As CryptoKitties: nothing of Transfer is indexed, and ERC-165 knows an ERC-721 of a draft.
contract UnindexedCollection is OlderTokens("Unindexed", "UNX") {
    event Transfer(address from, address to, uint256 tokenId);

    function tell(address from, address to, uint256 id) internal override {
        emit Transfer(from, to, id);
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x9a20483d;
    }
}

/// The topics of an ERC-20's Transfer, whose data is the id.
contract PlainCollection is OlderTokens("Plain", "PLN") {
    event Transfer(address indexed from, address indexed to, uint256 tokenId);

    function tell(address from, address to, uint256 id) internal override {
        emit Transfer(from, to, id);
    }
}

/// Claims to be an ERC-721, of whose Transfer nothing is indexed.
contract ClaimingCollection is OlderTokens("Claiming", "CLM") {
    event Transfer(address from, address to, uint256 tokenId);

    uint256 public totalSupply;

    function tell(address from, address to, uint256 id) internal override {
        if (from == address(0)) totalSupply++;
        emit Transfer(from, to, id);
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd;
    }
}
