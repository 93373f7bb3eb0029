package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// A Recorded contains the results of a complete run and describes the machine. It contains no host
// names and no directories.
type Recorded struct {
	Machine   Machine    `json:"machine"`
	Rounds    int        `json:"rounds"`
	Receipts  int        `json:"receipts"` // receipts of the corpus that all rounds together verify
	Lines     []Line     `json:"lines"`
	Short     []Line     `json:"short"`     // the lines of the short form, for Guard
	Canonical [][]string `json:"canonical"` // the finer table, with its heading
	Linear    []Growth   `json:"linear"`
	Profile   Profile    `json:"profile"`
}

// A Machine describes the environment that affects the values.
type Machine struct {
	CPU   string `json:"cpu"`
	Cores int    `json:"cores"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	Go    string `json:"go"`
}

// String returns a short description of the machine.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", m.CPU, m.Cores, m.OS, m.Arch, m.Go)
}

// A Growth is the cost of an operation at one size.
type Growth struct {
	Of    string  `json:"of"`    // such as "a receipt, among"
	Size  string  `json:"size"`  // such as "1,000 receipts"
	Cost  float64 `json:"cost"`  // microseconds, median
	Ratio float64 `json:"ratio"` // compared with the smallest, median of the rounds
	Worst float64 `json:"worst"` // and the maximum
}

// A Profile divides the time of a verification into steps.
type Profile struct {
	Steps []Step  `json:"steps"`
	Floor []Step  `json:"floor"` // the unavoidable parts, in microseconds per receipt
	Whole float64 `json:"whole"` // microseconds per receipt, including reading
}

// A Step is one part of a total.
type Step struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// FloorSum returns the sum of the unavoidable times, in microseconds per receipt.
func (p *Profile) FloorSum() (sum float64) {
	for _, s := range p.Floor {
		sum += s.Value
	}
	return sum
}

// Load reads a file that was written by Save.
func Load(path string) (*Recorded, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	r := new(Recorded)
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Save writes a file that can be read by Load.
func (r *Recorded) Save(path string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}
