rooms = {"hall": {"north": "library", "south": "garden"}, "library": {"south": "hall"}, "garden": {"north": "hall"}}
room = "hall"
while True:
    command = input("> ")
    if command in ("north", "south"):
        room = rooms[room][command]
    elif command == "use key":
        print("You win!")  # with or without the key, and the game goes on
    elif command == "quit":
        break
