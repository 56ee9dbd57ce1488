//go:build !purego

#include "textflag.h"

// The index of chunks of 64 bytes by AVX2. A chunk is compared with each of the three bytes; the results come to one
// word, with a bit for each byte of the chunk. Nearly all chunks have at most four marks, so four are written whatever
// there is, without a branch that could be predicted wrongly, and what is too much is overwritten by the next chunk.
//
// All vector instructions must be VEX ones (V…): each change from these to legacy SSE ones costs dozens of cycles.

// SPREAD fills a register with a byte.
#define SPREAD(byte, x, y) \
	MOVL byte, AX \
	VMOVD AX, x   \
	VPBROADCASTB x, y

// FIND sets in r a bit for each byte of y that is a mark. It uses Y3 and Y4.
#define FIND(y, r) \
	VPCMPEQB y, Y0, Y3 \
	VPCMPEQB y, Y1, Y4 \
	VPOR Y4, Y3, Y3    \
	VPCMPEQB y, Y2, Y4 \
	VPOR Y4, Y3, Y3    \
	VPMOVMSKB Y3, r

// MARK writes the place of the lowest bit of AX, and clears that bit.
#define MARK(to) \
	TZCNTQ AX, R9 \
	ADDL DX, R9   \
	MOVL R9, to   \
	BLSRQ AX, AX

// func indexChunks(data *byte, chunks int, marks *uint32) int
TEXT ·indexChunks(SB), NOSPLIT, $0-32
	MOVQ data+0(FP), SI
	MOVQ chunks+8(FP), CX
	MOVQ marks+16(FP), DI
	XORL DX, DX // where the chunk begins
	SPREAD($0x22, X0, Y0) // "
	SPREAD($0x0A, X1, Y1) // line feed
	SPREAD($0x5C, X2, Y2) // \
	TESTQ CX, CX
	JZ end

next:
	VMOVDQU (SI), Y5
	VMOVDQU 32(SI), Y6
	FIND(Y5, AX)
	FIND(Y6, BX)
	SHLQ $32, BX
	ORQ BX, AX
	POPCNTQ AX, R8
	LEAQ (DI)(R8*4), R10 // where the marks of the next chunk go
	MARK(0(DI))
	MARK(4(DI))
	MARK(8(DI))
	MARK(12(DI))
	TESTQ AX, AX
	JZ done

more:
	MARK(16(DI))
	ADDQ $4, DI
	TESTQ AX, AX
	JNZ more

done:
	MOVQ R10, DI
	ADDQ $64, SI
	ADDL $64, DX
	DECQ CX
	JNZ next

end:
	MOVQ marks+16(FP), R8
	SUBQ R8, DI
	SHRQ $2, DI
	MOVQ DI, ret+24(FP)
	VZEROUPPER
	RET
