package intern

// LowerASCII appends b to dst with ASCII letters in lower case.
func LowerASCII(dst, b []byte) []byte {
	for _, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
