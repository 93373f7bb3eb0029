package race

import "testing"

func TestMedian(t *testing.T) {
	if Median([]float64{3, 1, 2}) != 2 || Median([]float64{4, 1, 2, 3}) != 2.5 || Median([]float64{7}) != 7 {
		t.Error("wrong")
	}
}
