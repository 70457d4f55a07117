// The least a program can do: the floor of `--version`.
console.log("hello");
