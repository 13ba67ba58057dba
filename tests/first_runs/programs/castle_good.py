EXITS = {("hall", "north"): "library", ("hall", "south"): "garden", ("library", "south"): "hall",
         ("garden", "north"): "hall"}


def play() -> None:
    room, carrying = "hall", False
    while True:
        print(f"You are in the {room}.")
        command = input("> ").strip().lower()
        if command == "quit":
            print("Bye.")
            return
        if (room, command) in EXITS:
            room = EXITS[room, command]
        elif command == "look":
            print("A golden key lies here." if room == "library" and not carrying else "Old walls.")
        elif command == "take key" and room == "library" and not carrying:
            carrying = True
            print("Taken.")
        elif command == "inventory":
            print("You carry: golden key" if carrying else "You carry nothing.")
        elif command == "use key" and carrying and room == "garden":
            print("You win!")
            return
        else:
            print("That does not work here.")


if __name__ == "__main__":
    play()
