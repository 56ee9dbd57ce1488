package html

import (
	"bytes"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// An answer is three sheets of paper at most.
func TestBrowserAnswerPrints(t *testing.T) {
	b := openTab(t, madeAnswer(plainTexts), 1280, 900)
	printed, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{})
	if err != nil {
		t.Fatal(err)
	}
	if sheets := bytes.Count(printed.Data, []byte("/Type /Page\n")); sheets == 0 || sheets > 3 {
		t.Errorf("%d sheets", sheets)
	}
}
