# The tests of go test -json that were skipped, but for those that want what cannot be installed (internal/testneeds).
[inputs | select(.Test)] | group_by([.Package, .Test])[]
| select(any(.Action == "skip"))
| (map(.Output // "") | add) as $said
| select($said | test("is no part of the project|may not mount a small disk here") | not)
| "skip  \(.[0].Package) \(.[0].Test)\n\($said | gsub("(?m)^ *(===|---).*\n"; ""))"
